"""YAML that people write by hand, read strictly: safe tags, no aliases, no repeated keys, bounded size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

MAX_YAML_BYTES = 16 * 1024 * 1024


_FAULTS = (yaml.YAMLError, ValueError, RecursionError, AttributeError, LookupError, TypeError)
"""What PyYAML raises about bytes that are no document; the last three for a tag whose value does not fit it."""


class YamlError(Exception):
    """The file cannot be read; one line that names file, line and fault."""


class _StrictLoader(yaml.SafeLoader):
    """Refuses what would make a document mean something else than it shows."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, "aliases are not allowed", mark)
        node: yaml.Node | None = super().compose_node(parent, index)
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                raise yaml.constructor.ConstructorError(None, None, f"the key {key!r} is not text", key_node.start_mark)
            if key in keys:
                raise yaml.constructor.ConstructorError(None, None, f"the key {key!r} stands twice", key_node.start_mark)
            keys.add(key)
        return super().construct_mapping(node, deep=deep)


def parse_yaml(data: bytes, *, name: str) -> Any:
    """Read one YAML document.

    Args:
        data: UTF-8 text.
        name: What the document is called in messages.

    Returns:
        Plain lists, dicts with text keys, and scalars; ``None`` for an empty document.

    Raises:
        YamlError: Too large, not YAML, an unsafe tag, an alias, a repeated key, or a key that is no text.
    """
    if len(data) > MAX_YAML_BYTES:
        raise YamlError(f"{name}: larger than {MAX_YAML_BYTES} bytes")
    try:
        return yaml.load(data, Loader=_StrictLoader)  # noqa: S506 - a SafeLoader that is stricter still
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise YamlError(f"{name}{line}: {' '.join(str(error.problem).split())}") from None
    except _FAULTS as error:
        raise YamlError(f"{name}: not a YAML document: {' '.join(str(error).split())}") from None


def read_bounded(path: Path, *, name: str) -> bytes:
    """Read the bytes of a YAML file for ``parse_yaml``, at most one more than it accepts.

    Raises:
        YamlError: The file cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(MAX_YAML_BYTES + 1)
    except OSError as error:
        raise YamlError(f"{name}: {error.strerror or error}") from None
