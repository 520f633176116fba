"""What a page shows of a case in pictures, and what has to be known to draw them. Imports nothing that decodes."""

from __future__ import annotations

import msgspec


class Figure(msgspec.Struct, frozen=True):
    """One picture.

    Attributes:
        data_uri: The picture itself, ``data:image/webp;base64,...`` or PNG or JPEG; nothing that needs escaping in a quoted
            attribute.
        alt: What it is, in a few words, for who cannot see it. Plain text: foreign names in it are as they came.
        caption: What the eye needs to read it: sizes, scales, amplification, numbers. Plain text, likewise.
    """

    data_uri: str
    alt: str
    caption: str


class CasePictures(msgspec.Struct, frozen=True):
    """The pictures of a case, or why there are none.

    Attributes:
        figures: In the order in which they belong; may be empty.
        note: One line that says what is missing and why; ``None`` where nothing is. Plain text, without absolute paths.
    """

    figures: tuple[Figure, ...] = ()
    note: str | None = None


class File(msgspec.Struct, frozen=True):
    """A file to be shown.

    Attributes:
        name: What people call it: the last part of its path.
        sha256: The digest that it must have, 64 lower-case hex digits.
        paths: Where it may lie, real paths as the file system has them, the likeliest first.
    """

    name: str
    sha256: str
    paths: tuple[bytes, ...]


class PictureRequest(msgspec.Struct, frozen=True):
    """What is to be drawn of one case.

    Attributes:
        media_type: As what the files are decoded.
        artifact: What the detector was shown.
        reference: What it is compared with, if anything.
        frame_bit_accuracy: The share of right bits in each frame of a video, each in [0, 1]; empty where nobody knows.
        max_bytes: What the data URIs of the case may take together.
    """

    media_type: str
    artifact: File
    reference: File | None
    frame_bit_accuracy: tuple[float, ...]
    max_bytes: int
