"""How an extension that was not written for the contract shows what it found: a YAML file, read strictly.

``docs/chrome.md`` explains every field.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

import msgspec

from pytest_benchbench.browser.contract import FIELDS, STATUSES, ContractError, Sha256, read_object
from pytest_benchbench.manifests.faults import shown
from pytest_benchbench.manifests.yaml_documents import YamlError, parse_struct, read_bounded

MAX_PROFILE_BYTES = 64 * 1024

PENDING = "pending"
"""What a word of an extension may mean beside the contract's statuses: it is not done yet."""

_NUMBERS = FIELDS & {
    *("score", "rawScore", "pixelScore", "cropCount", "submitBoot", "deliverBoot"),
    *(name for name in FIELDS if name.endswith("Ms")),
}

_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")

_FILE_FIELDS = {"model": "modelSha256", "calibrator": "calibratorSha256"}
"""Files whose digest belongs into the evidence, and where."""

Selector = Annotated[str, msgspec.Meta(min_length=1, max_length=500)]
_Name = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z][A-Za-z0-9_]*$", max_length=60)]
_Path = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z][A-Za-z0-9_]*(\.[^.\s]+)*$", max_length=200)]
_Words = Annotated[str, msgspec.Meta(min_length=1, max_length=500)]
_Seconds = Annotated[float, msgspec.Meta(gt=0, le=600)]


class ProfileError(ValueError):
    """The file cannot be used; one line that names file and field."""


class Condition(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Something that stands on a page.

    Attributes:
        selector: Of the element, CSS.
        attribute: Which attribute is looked at; without it the element's text.
        contains: What has to stand there; without it the element, or the attribute, has to be there.
    """

    selector: Selector
    attribute: Selector | None = None
    contains: _Words | None = None


class Wait(Condition, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A condition to wait for.

    Attributes:
        fails: What may stand there instead, and means that it will never be met.
        timeout: How long to wait, seconds.
    """

    fails: tuple[_Words, ...] = ()
    timeout: _Seconds = 30.0


class PutFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A file to choose in a page.

    Attributes:
        selector: Of the ``<input type="file">``.
        file: Its name under ``files``.
    """

    selector: Selector
    file: _Name


class Fill(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A value to give to a field of a form.

    Attributes:
        selector: Of the field.
        value: What is put there, in place of what was.
    """

    selector: Selector
    value: Annotated[str, msgspec.Meta(max_length=2000)]


class Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One thing to do before images are shown: exactly one of these.

    Attributes:
        open: A page of the extension, by its path in the extension's folder; the following steps are done in it.
        put_file: Choose a file.
        click: Click an element, by its selector.
        fill: Give a field a value.
        wait: Wait for something to stand on the page.
    """

    open: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_./-]*([?#][^\s]*)?$", max_length=500)] | None = None
    put_file: PutFile | None = None
    click: Selector | None = None
    fill: Fill | None = None
    wait: Wait | None = None

    def __post_init__(self) -> None:
        if sum(getattr(self, name) is not None for name in self.__struct_fields__) != 1:
            raise ValueError(f"a step is one of {', '.join(self.__struct_fields__)}")


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A place where something about an image stands: an attribute, a text or the value of an expression.

    Attributes:
        selector: Of the element, looked for in the image's ``<figure>``; without it the image itself.
        attribute: The element's attribute.
        text: The element's text.
        expression: JavaScript in the isolated world of the extension's content script; ``image`` is the image.
        json: Whether the attribute or text is JSON, of which fields are taken.
    """

    selector: Selector | None = None
    attribute: Selector | None = None
    text: bool = False
    expression: Annotated[str, msgspec.Meta(min_length=1, max_length=4000)] | None = None
    json: bool = False

    def __post_init__(self) -> None:
        if (self.attribute is not None) + self.text + (self.expression is not None) != 1:
            raise ValueError("a source is one of attribute, text, expression")
        if self.expression is not None and (self.selector is not None or self.json):
            raise ValueError("expression: has no selector, and its value is an object already")


class Page(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How images are shown.

    Attributes:
        box: Side of the square in which each is shown, CSS pixels.
        scroll: Whether each image is brought into the middle of the window until it has its answer.
        dwell_ms: How long an image stays there before the next one is brought, milliseconds.
    """

    box: Annotated[int, msgspec.Meta(ge=16, le=4096)] = 200
    scroll: bool = False
    dwell_ms: Annotated[int, msgspec.Meta(ge=0, le=60_000)] = 200


class ProfileFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A file that the extension works with.

    Attributes:
        path: Relative to the YAML, with ``/`` between its parts.
        sha256: Its digest, compared before anything runs.
    """

    path: Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]
    sha256: Sha256


class Declared(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """What is known of the extension and not exposed by it.

    Attributes:
        preprocessingVersion: A name for what it does to pixels.
    """

    preprocessingVersion: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] | None = None  # noqa: N815 - as the contract


class Profile(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="type", tag="extension-profile"
):
    """An extension as it is seen from outside.

    Attributes:
        schema_version: 1.
        files: Files that it works with, by names of one's own; the digests of ``model`` and ``calibrator`` go into each row.
        setup: What is done once, before images are shown.
        ready: What stands on a page of images once the extension works there; without it, it is taken to work.
        failure: What stands there once it has failed: the images without an answer are ``inference-error`` then.
        page: How images are shown.
        sources: Where answers stand, by names of one's own.
        fields: Which name of the contract is found where: a source, or ``source.key.key`` of one that is an object.
        words: What the extension's words mean, by field; one that ends in ``*`` means all that begin so.
        divided_by: What its numbers are divided by, by field: ``score: 100`` for percent, ``pipelineMs: 0.001`` for seconds.
        ignored_below: Images with a shorter side get no answer from it, and are ``too-small``; pixels.
        declared: What it does not say itself.
    """

    schema_version: Literal[1]
    files: dict[_Name, ProfileFile] = {}
    setup: Annotated[tuple[Step, ...], msgspec.Meta(max_length=100)] = ()
    ready: Condition | None = None
    failure: Condition | None = None
    page: Page = Page()
    sources: Annotated[dict[_Name, Source], msgspec.Meta(min_length=1, max_length=30)]
    fields: dict[str, _Path]
    words: dict[str, dict[str, str]] = {}
    divided_by: dict[str, Annotated[float, msgspec.Meta(ge=1e-6, le=1e6)]] = {}
    ignored_below: Annotated[int, msgspec.Meta(ge=1, le=100_000)] | None = None
    declared: Declared = Declared()

    def __post_init__(self) -> None:
        if "score" not in self.fields:
            raise ValueError("fields: score has to be found somewhere")
        for name, path in self.fields.items():
            if name not in FIELDS:
                raise ValueError(f"fields: the contract has no {shown(name)}; it has {', '.join(sorted(FIELDS))}")
            source, dot, _ = path.partition(".")
            if source not in self.sources:
                raise ValueError(f"fields.{name}: there is no source {shown(source)}")
            is_object = self.sources[source].json or self.sources[source].expression is not None
            if dot and not is_object:
                raise ValueError(f"fields.{name}: the source {source} is a text, and has no parts without json: true")
            if not dot and self.sources[source].json:
                raise ValueError(f"fields.{name}: the source {source} is an object, say which part of it")
        for name, words in self.words.items():
            if name not in self.fields:
                raise ValueError(f"words.{name}: there is no such field")
            for theirs, ours in words.items():
                if name == "status" and ours not in (*STATUSES, PENDING):
                    raise ValueError(f"words.status.{theirs}: expected one of {', '.join((*STATUSES, PENDING))}")
        for name in self.divided_by:
            if name not in self.fields or name not in _NUMBERS:
                raise ValueError(f"divided_by.{name}: there is no such field that is a number")
        opened = False
        for number, step in enumerate(self.setup):
            opened = opened or step.open is not None
            if not opened:
                raise ValueError(f"setup[{number}]: the first step opens a page of the extension")
            if step.put_file is not None and step.put_file.file not in self.files:
                raise ValueError(f"setup[{number}].put_file: there is no file {shown(step.put_file.file)}")

    def record(self, values: Mapping[str, Any]) -> dict[str, Any] | None:
        """Make a record of the contract of what stands at the sources.

        Args:
            values: What was found, by source; ``None`` or absent where nothing stands.

        Returns:
            The record; ``None`` where the extension is not done with the image.

        Raises:
            ContractError: A source that is JSON holds none, a number is none, a status is unknown.
        """
        found = {name: self._found(name, values) for name in self.fields}
        found = {name: value for name, value in found.items() if value is not None}
        if "status" not in self.fields:
            status = "scored" if "score" in found else PENDING
        elif (status := found.get("status", PENDING)) not in (*STATUSES, PENDING):
            raise ContractError(f"status: the profile does not say what {shown(status)} means")
        if status == PENDING:
            return None
        if status != "scored":
            found.pop("score", None)  # which may still stand there from before
        return {**found, "status": status}

    def _found(self, name: str, values: Mapping[str, Any]) -> Any:
        source, *keys = self.fields[name].split(".")
        value = values.get(source)
        if self.sources[source].json and isinstance(value, str):
            try:
                value = read_object(value)
            except ContractError as error:
                raise ContractError(f"source {source}: {error}") from None
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        if (words := self.words.get(name)) and isinstance(value, (str, int, float, bool)):
            value = _meaning(words, value)
        if name in _NUMBERS and isinstance(value, str):
            value = _number(name, value.strip())
        divisor = self.divided_by.get(name)
        return value / divisor if divisor and isinstance(value, (int, float)) and not isinstance(value, bool) else value

    @property
    def not_exposed(self) -> tuple[str, ...]:
        """The contract's names that no source has, sorted."""
        return tuple(sorted(FIELDS - set(self.fields) - {"reason", "status"}))


def _meaning(words: Mapping[str, str], value: object) -> object:
    theirs = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    if theirs in words:
        return words[theirs]
    beginnings = [word for word in words if word.endswith("*") and theirs.startswith(word[:-1])]
    return words[max(beginnings, key=len)] if beginnings else value


def _number(name: str, text: str) -> float | int:
    if not _NUMBER.fullmatch(text) or not math.isfinite(number := float(text)):
        raise ContractError(f"{name}: {shown(text)} is no number")
    return int(text) if text.isdigit() else number


@dataclass(frozen=True, slots=True)
class LoadedProfile:
    """A profile with the digest of the bytes that it was read from.

    Attributes:
        profile: What it says.
        path: The file; the paths in it start at its folder.
        sha256: 64 lower-case hex digits.
    """

    profile: Profile
    path: Path
    sha256: str

    def locate(self, name: str) -> Path:
        """Give the place of one of its ``files``, absolute."""
        return (self.path.parent / self.profile.files[name].path).resolve()

    def check_files(self) -> None:
        """Compare every file with its digest.

        Raises:
            ProfileError: One cannot be read, or is another one.
        """
        for name, file in self.profile.files.items():
            try:
                with self.locate(name).open("rb") as opened:
                    found = hashlib.file_digest(opened, "sha256").hexdigest()
            except OSError as error:
                raise ProfileError(f"{self.path}: files.{name}: {file.path} cannot be read: {error.strerror}") from None
            if found != file.sha256:
                raise ProfileError(
                    f"{self.path}: files.{name}: {file.path} has SHA-256 {found}, not the pinned {file.sha256}"
                )

    def known(self) -> dict[str, str]:
        """Give what is known of every row without the extension's saying so, by the contract's names."""
        files = {_FILE_FIELDS[name]: file.sha256 for name, file in self.profile.files.items() if name in _FILE_FIELDS}
        return {**files, **msgspec.to_builtins(self.profile.declared)}


def load_profile(path: Path) -> LoadedProfile:
    """Read the YAML file of a profile.

    Raises:
        ProfileError: It cannot be read, is too large, or is not such a file.
    """
    try:
        data = read_bounded(path, name=str(path), limit=MAX_PROFILE_BYTES)
    except YamlError as error:
        raise ProfileError(str(error)) from None
    return LoadedProfile(parse_profile(data, name=path.name), path, hashlib.sha256(data).hexdigest())


def parse_profile(data: bytes, *, name: str) -> Profile:
    """Read the text of such a file.

    Args:
        data: UTF-8 YAML.
        name: What the file is called in messages.

    Raises:
        ProfileError: Too large, no YAML, an unknown or missing key, a wrong type, values that contradict each other.
    """
    try:
        profile = parse_struct(data, Profile, name=name, limit=MAX_PROFILE_BYTES)
    except YamlError as error:
        raise ProfileError(str(error)) from None
    for key, file in profile.files.items():
        if PurePosixPath(file.path).is_absolute() or "\\" in file.path or "\0" in file.path:
            raise ProfileError(f"{name}: files.{key}.path: expected a path relative to this file, with / between its parts")
    return profile
