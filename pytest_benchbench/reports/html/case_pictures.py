"""Draws one case: its files verified, decoded within bounds, and handed to what draws their medium."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable

from pytest_benchbench.artifacts.media import UndecodableArtifactError
from pytest_benchbench.artifacts.verification import ArtifactMismatchError, ArtifactUnreadableError, read_verified
from pytest_benchbench.evidence.foreign_text import one_line
from pytest_benchbench.reports.html.audio_figures import audio_figures
from pytest_benchbench.reports.html.figure import CasePictures, Figure, File, PictureRequest
from pytest_benchbench.reports.html.image_figures import image_figures
from pytest_benchbench.reports.html.video_figures import video_figures

MAX_FILE_BYTES = 256 * 1024 * 1024
"""A larger file is not read to draw a picture of it."""


class NoPictureError(Exception):
    """Why a file cannot be shown; one line that names it and no directory."""


def draw_case(request: PictureRequest) -> CasePictures:
    """Draw the pictures of one case; whatever its files hold, nothing is raised.

    The bytes that are drawn are the bytes that were hashed.
    """
    try:
        artifact = _verified(request.artifact)
        figures = _drawn(request, artifact)
    except NoPictureError as error:
        return CasePictures(note=f"no picture: {error}")
    except UndecodableArtifactError as error:
        return CasePictures(note=f"no picture: {request.artifact.name} cannot be decoded: {one_line(error)}")
    except Exception as error:  # of a library, about bytes that it did not foresee
        return CasePictures(note=f"no picture: drawing {request.artifact.name} failed ({type(error).__name__})")
    if not figures:
        return CasePictures(note="no picture: the room that the page has for pictures is used up")
    return CasePictures(tuple(figures))


def _drawn(request: PictureRequest, artifact: bytes) -> list[Figure]:
    name, room = request.artifact.name, request.max_bytes
    if request.media_type == "audio":
        return audio_figures(artifact, name, room)
    if request.media_type == "video":
        return video_figures(artifact, name, request.frame_bit_accuracy, room)
    return image_figures(artifact, name, _reference_reader(request.reference), room)


def _reference_reader(reference: File | None) -> Callable[[], bytes] | None:
    return None if reference is None else lambda: _verified(reference)


def _verified(file: File) -> bytes:
    """Read a file at the first of its places that has the very bytes.

    Raises:
        NoPictureError: None has.
    """
    fault = f"file not at hand ({file.name})"
    for encoded in file.paths:
        path = os.fsdecode(encoded)
        try:
            found = os.lstat(path)
            if stat.S_ISREG(found.st_mode) and found.st_size > MAX_FILE_BYTES:
                fault = f"{file.name} is larger than the {MAX_FILE_BYTES >> 20} MiB that a picture is drawn from"
                continue
            return read_verified(path, file.sha256)
        except ArtifactMismatchError:
            fault = f"{file.name} is not the file that was measured: its SHA-256 is another"
        except ArtifactUnreadableError as error:
            fault = f"file not at hand ({one_line(error)})"
        except (OSError, ValueError):  # nothing is there, or what is no path
            continue
    raise NoPictureError(fault)
