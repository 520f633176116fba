"""YAML that people write by hand, read strictly: safe tags, no aliases, no repeated keys, bounded size and time."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import msgspec
import yaml

from pytest_benchbench.manifests.faults import schema_fault, shown, shown_text
from pytest_benchbench.manifests.regular_files import open_regular

MAX_YAML_BYTES = 4 * 1024 * 1024

MAX_NODES = 250_000
"""Keys, values, lists and mappings of a document: about 35,000 entries of a list of known mismatches, 20 seconds, 200 MB."""

Document = TypeVar("Document", bound=msgspec.Struct)

_FAULTS = (yaml.YAMLError, ValueError, ArithmeticError, RecursionError, AttributeError, LookupError, TypeError)
"""What PyYAML raises about bytes that are no document; the last three for a tag whose value does not fit it."""


class YamlError(Exception):
    """The file cannot be read; one line that names file, line and fault."""


class _StrictLoader(yaml.SafeLoader):
    """Refuses what would make a document mean something else than it shows."""

    _nodes = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, "aliases are not allowed", mark)
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise yaml.composer.ComposerError(None, None, f"more than {MAX_NODES} keys and values")
        node: yaml.Node | None = super().compose_node(parent, index)
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {_shown(key)} is not text", key_node.start_mark
                )
            if key in keys:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {_shown(key)} stands twice", key_node.start_mark
                )
            keys.add(key)
        return super().construct_mapping(node, deep=deep)

    def construct_scalar(self, node: yaml.ScalarNode | yaml.MappingNode) -> Any:
        value = super().construct_scalar(node)
        if isinstance(value, str) and not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
            message = f"{shown(value)} holds half of a surrogate pair: write the character itself"
            raise yaml.constructor.ConstructorError(None, None, message, node.start_mark)
        return value

    def construct_yaml_number(self, node: yaml.ScalarNode) -> Any:
        """Read a number, but for those to the base of 60: nobody means 750 by ``12:30``, and long ones take hours.

        Raises:
            ConstructorError: It has a colon.
        """
        if ":" in node.value:
            raise yaml.constructor.ConstructorError(
                None, None, f"{shown(node.value)} would be a number to the base of 60: put text in quotes", node.start_mark
            )
        is_float = node.tag == "tag:yaml.org,2002:float"
        return self.construct_yaml_float(node) if is_float else self.construct_yaml_int(node)


for _tag in ("int", "float"):
    _StrictLoader.add_constructor(f"tag:yaml.org,2002:{_tag}", _StrictLoader.construct_yaml_number)


def _shown(key: object) -> str:
    return shown(key) if isinstance(key, (str, int, float, bool, dict, list, type(None))) else type(key).__name__


def parse_yaml(data: bytes, *, name: str) -> Any:
    """Read one YAML document.

    Args:
        data: UTF-8 text.
        name: What the document is called in messages.

    Returns:
        Plain lists, dicts with text keys, and scalars; ``None`` for an empty document.

    Raises:
        YamlError: Too large, not YAML, an unsafe tag, an alias, a repeated key, a key that is no text, a number to the base
            of 60, or a text that cannot be encoded.
    """
    if len(data) > MAX_YAML_BYTES:
        raise YamlError(f"{name}: larger than {MAX_YAML_BYTES} bytes")
    try:
        return yaml.load(data, Loader=_StrictLoader)  # noqa: S506 - a SafeLoader that is stricter still
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise YamlError(f"{name}{line}: {_one_line(error.problem)}") from None
    except _FAULTS as error:
        raise YamlError(f"{name}: not a YAML document: {_one_line(error)}") from None


def read_bounded(path: Path, *, name: str, limit: int = MAX_YAML_BYTES) -> bytes:
    """Read the bytes of a YAML file, at most one more than is accepted.

    Args:
        path: The file.
        name: What it is called in messages.
        limit: How many bytes are accepted by whoever parses them.

    Raises:
        YamlError: The file cannot be read.
    """
    try:
        with open_regular(path) as file:
            return file.read(limit + 1)
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or error
        raise YamlError(f"{name}: cannot be read: {_one_line(reason)}") from None


def parse_struct(data: bytes, kind: type[Document], *, name: str, limit: int) -> Document:
    """Read one YAML document as a struct.

    Args:
        data: UTF-8 text.
        kind: What it has to be.
        name: What the document is called in messages.
        limit: Bytes, at most ``MAX_YAML_BYTES``.

    Raises:
        YamlError: As ``parse_yaml``, or it is no such struct; then file, field and fault are named.
    """
    if len(data) > limit:
        raise YamlError(f"{name}: larger than {limit} bytes")
    try:
        return msgspec.convert(parse_yaml(data, name=name), kind)
    except msgspec.ValidationError as error:
        raise YamlError(f"{name}: {schema_fault(error)}") from None


def _one_line(problem: object) -> str:
    return shown_text(" ".join(str(problem).split()))
