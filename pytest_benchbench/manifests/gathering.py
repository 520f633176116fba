"""The media files that a user names, alone or by the folder, in an order that no file system decides."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from types import MappingProxyType

SUFFIXES = MappingProxyType(
    {
        "image": (".avif", ".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"),
        "audio": (".aac", ".flac", ".m4a", ".mp3", ".oga", ".ogg", ".opus", ".wav"),
        "video": (".avi", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".webm"),
    }
)
"""The media type that a file's suffix stands for."""

_MEDIA_TYPE_OF = {suffix: media_type for media_type, suffixes in SUFFIXES.items() for suffix in suffixes}


class BuildingError(Exception):
    """A manifest cannot be made from what was given; one line that says why and what to do."""


@dataclass(frozen=True, slots=True, order=True)
class GatheredFile:
    """A media file.

    Attributes:
        name: The path inside the folder that was given, ``/`` between its parts, without the suffix; the stem of a file that
            was given by itself.
        path: The file.
        media_type: ``image``, ``audio`` or ``video``.
    """

    name: str
    path: Path
    media_type: str


@dataclass(slots=True)
class Gathered:
    """What was found.

    Attributes:
        files: Sorted by name and path, each file once.
        skipped: Files in folders that are left out because of their suffix, with the reason.
    """

    files: list[GatheredFile] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


def readable(path: Path) -> str:
    """Write a path as one printable line, whatever the file is called."""
    text = os.fsencode(path).decode("utf-8", "backslashreplace")
    return text if text.isprintable() else repr(text)


def media_type_of(path: Path) -> str | None:
    """Tell the media type by the suffix; ``None`` when it is not a known one."""
    return _MEDIA_TYPE_OF.get(path.suffix.lower())


def gather(given: Iterable[Path], media_types: Collection[str], *, leave_out: Path | None = None) -> Gathered:
    """Find the media files of some types.

    Hidden files and folders are passed over, links to folders are not followed. A file that was given by itself is taken at
    its word where only one media type is wanted, whatever its suffix.

    Args:
        given: Files and folders.
        media_types: The media types that are wanted.
        leave_out: A folder inside a given one whose files are something else.

    Raises:
        BuildingError: A file that was given by itself is of another type, or a folder cannot be read.
    """
    found = Gathered()
    taken: set[str] = set()
    for start in given:
        for path, name in _walk(start, leave_out) if start.is_dir() else [(start, start.stem)]:
            if (real := os.path.realpath(path)) in taken:
                continue
            if not path.is_file():
                found.skipped.append(f"{readable(path)}: not a regular file")
                continue
            media_type = media_type_of(path)
            if media_type is None and path == start and len(media_types) == 1:
                (media_type,) = media_types
            if media_type in media_types:
                taken.add(real)
                found.files.append(GatheredFile(name, path, str(media_type)))
                continue
            reason = f"{readable(path)}: {_why_not(path, media_type, media_types)}"
            if path == start:
                raise BuildingError(reason)
            found.skipped.append(reason)
    found.files.sort()
    return found


def digest_of(path: Path) -> str:
    """Hash a file.

    Raises:
        BuildingError: It cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise BuildingError(f"{readable(path)}: cannot be read: {error.strerror or error}") from None


def _walk(folder: Path, leave_out: Path | None) -> Iterator[tuple[Path, str]]:
    """Yield every file below a folder that is not hidden, with its name inside the folder, sorted."""

    def fail(error: OSError) -> None:
        raise BuildingError(f"{readable(Path(error.filename))}: cannot be read: {error.strerror}")

    hidden_from = None if leave_out is None else leave_out.resolve()
    for current, folders, files in os.walk(folder, onerror=fail):
        here = Path(current)
        if here != folder and here.resolve() == hidden_from:
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith("."):
                path = here / name
                yield path, PurePosixPath(path.relative_to(folder).with_suffix("")).as_posix()


def _why_not(path: Path, media_type: str | None, media_types: Collection[str]) -> str:
    wanted = " or ".join(sorted(media_types))
    if media_type is not None:
        return f"{media_type}, not {wanted}"
    known = ", ".join(suffix for wanted_type in sorted(media_types) for suffix in SUFFIXES.get(wanted_type, ()))
    return f"unknown suffix {path.suffix!a}; known for {wanted}: {known}"
