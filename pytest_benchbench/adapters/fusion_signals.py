"""What a picture's own bytes say of its origin, as named signals for fusion. Nothing is verified: anyone writes metadata.

Read are PNG, JPEG, WebP, AVIF and TIFF files; every other format gives no signal. A block that is broken or longer than the
bounds below gives none of its signals either. Pixels are never looked at.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from pytest_benchbench.artifacts.image import embedded_metadata
from pytest_benchbench.artifacts.media import UndecodableArtifactError
from pytest_benchbench.artifacts.opening import identify
from pytest_benchbench.artifacts.structure import BrokenImageError

SIGNALS: dict[str, str] = {
    "c2pa-ai-source": "a C2PA store names a trained algorithm (trainedAlgorithmicMedia) as a digital source type",
    "c2pa-capture-source": "a C2PA store names a capture (digitalCapture, computationalCapture) as a digital source type",
    "c2pa-manifest": "the file carries a C2PA manifest store; no signature is checked",
    "exif-camera": "EXIF has a camera's Make and Model",
    "exif-exposure": "EXIF has an ExposureTime, and FNumber or an ISO speed",
    "generator-parameters": "a PNG text or the EXIF UserComment holds what generators write: prompt, sampler, workflow",
    "generator-software": "a field for the software (EXIF, PNG text, XMP CreatorTool) names an image generator",
    "xmp-ai-source": "XMP names a trained algorithm (trainedAlgorithmicMedia) as DigitalSourceType",
}
"""Every signal by its name, and when it is present."""

GENERATORS = (
    "adobe firefly",
    "automatic1111",
    "comfyui",
    "dall-e",
    "dall·e",
    "fooocus",
    "gpt-image",
    "ideogram",
    "invokeai",
    "leonardo.ai",
    "midjourney",
    "novelai",
    "stable diffusion",
)
"""Names that make a software field one of a generator, in lower case, as parts of the field."""

PARAMETER_KEYS = frozenset(
    {"dream", "invokeai_graph", "invokeai_metadata", "parameters", "prompt", "sd-metadata", "workflow"}
)
"""Keywords of PNG texts under which generators keep their parameters, in lower case."""

MAX_BLOCK_BYTES = 1 << 20
"""Of one text, XMP packet or EXIF block that is looked at: 1 MiB."""

MAX_STORE_BYTES = 1 << 26
"""Of a C2PA store that is searched, and of all compressed texts of a PNG together: 64 MiB."""

_MAX_BLOCKS = 100_000
"""Chunks, segments or boxes of a file that are walked over."""

_AI_SOURCE = re.compile(rb"digitalsourcetype/(?:trained|compositeWithTrained)AlgorithmicMedia")
_CAPTURE_SOURCE = re.compile(rb"digitalsourcetype/(?:digital|computational)Capture")
_CREATOR_TOOL = re.compile(rb"CreatorTool\s*(?:=\s*[\"']|>)([^\"'<]{1,400})")
_SAMPLER_LINE = re.compile(r"\bSteps: \d+, Sampler: ")

_XMP_IN_JPEG = b"http://ns.adobe.com/xap/1.0/\0"
_XMP_IN_PNG = "XML:com.adobe.xmp"
_C2PA_BOX = bytes.fromhex("d8fec3d61b0e483c92975828877ec481")
"""Identifier of the ``uuid`` box in which ISO files keep their C2PA store (C2PA 2.1, section A.5)."""

_MAKE, _MODEL, _SOFTWARE, _EXIF_DIRECTORY = 0x010F, 0x0110, 0x0131, 0x8769
_EXPOSURE_TIME, _F_NUMBER, _ISO_SPEED, _USER_COMMENT = 0x829A, 0x829D, 0x8827, 0x9286
_TYPE_BYTES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 7: 1}


@dataclass(slots=True)
class _Metadata:
    """The blocks of a file that signals are read from; of several of a kind the first."""

    exif: bytes = b""
    xmp: bytes = b""
    store: bytes = b""
    texts: list[tuple[str, str]] = field(default_factory=list)
    inflated: int = 0


def read_signals(data: bytes) -> tuple[str, ...]:
    """Name the signals that are present in a picture's file.

    Args:
        data: The whole file.

    Returns:
        Names out of ``SIGNALS``, sorted; empty for a file without metadata and for any format that is not read.
    """
    metadata = _Metadata()
    try:
        reader = _READERS.get(identify(data))
    except BrokenImageError:
        return ()
    if reader is None:
        return ()
    with suppress(struct.error, IndexError):  # the blocks before a break count
        reader(data, metadata)
    return tuple(
        sorted({*_of_store(metadata.store), *_of_xmp(metadata.xmp), *_of_texts(metadata.texts), *_of_exif(metadata)})
    )


def _of_store(store: bytes) -> Iterator[str]:
    if not store:
        return
    yield "c2pa-manifest"
    if _AI_SOURCE.search(store):
        yield "c2pa-ai-source"
    if _CAPTURE_SOURCE.search(store):
        yield "c2pa-capture-source"


def _of_xmp(packet: bytes) -> Iterator[str]:
    if _AI_SOURCE.search(packet):
        yield "xmp-ai-source"
    if any(_is_generator(tool.decode("utf-8", "replace")) for tool in _CREATOR_TOOL.findall(packet)):
        yield "generator-software"


def _of_texts(texts: list[tuple[str, str]]) -> Iterator[str]:
    for key, value in texts:
        if key.lower() in PARAMETER_KEYS and value.strip():
            yield "generator-parameters"
        if key.lower() == "software" and _is_generator(value):
            yield "generator-software"


def _of_exif(metadata: _Metadata) -> Iterator[str]:
    tags = _exif_tags(metadata.exif)
    if tags.get(_MAKE, b"").strip(b"\0 ") and tags.get(_MODEL, b"").strip(b"\0 "):
        yield "exif-camera"
    # the first four bytes: of a fraction the numerator
    exposure, aperture, speed = (any(tags.get(tag, b"")[:4]) for tag in (_EXPOSURE_TIME, _F_NUMBER, _ISO_SPEED))
    if exposure and (aperture or speed):
        yield "exif-exposure"
    if _is_generator(tags.get(_SOFTWARE, b"").decode("utf-8", "replace")):
        yield "generator-software"
    comment = tags.get(_USER_COMMENT, b"")
    spelled = comment[8:].decode("utf-16-be" if comment.startswith(b"UNICODE\0") else "utf-8", "replace")
    little_endian = comment[8:].decode("utf-16-le", "replace")  # what several programs write under the name UNICODE
    if _SAMPLER_LINE.search(spelled) or _SAMPLER_LINE.search(little_endian):
        yield "generator-parameters"


def _is_generator(software: str) -> bool:
    lowered = software.lower()
    return any(name in lowered for name in GENERATORS)


def _exif_tags(block: bytes) -> dict[int, bytes]:
    """Read the values of IFD0 and of the EXIF directory, cut to the bound; the first of equal tags counts."""
    if len(block) > MAX_STORE_BYTES or block[:4] not in (b"II\x2a\0", b"MM\0\x2a"):
        return {}
    order = "<" if block[:2] == b"II" else ">"
    tags: dict[int, bytes] = {}
    with suppress(struct.error):  # what was read before a break counts
        (directory,) = struct.unpack_from(order + "I", block, 4)
        _read_directory(block, directory, order, tags)
        if len(pointer := tags.get(_EXIF_DIRECTORY, b"")) == 4:
            (directory,) = struct.unpack(order + "I", pointer)
            _read_directory(block, directory, order, tags)
    return tags


def _read_directory(block: bytes, offset: int, order: str, tags: dict[int, bytes]) -> None:
    (entries,) = struct.unpack_from(order + "H", block, offset)
    wanted = {_MAKE, _MODEL, _SOFTWARE, _EXIF_DIRECTORY, _EXPOSURE_TIME, _F_NUMBER, _ISO_SPEED, _USER_COMMENT}
    for position in range(offset + 2, offset + 2 + 12 * entries, 12):
        tag, kind, count = struct.unpack_from(order + "HHI", block, position)
        if tag not in wanted or tag in tags or kind not in _TYPE_BYTES:
            continue
        size = count * _TYPE_BYTES[kind]
        start = position + 8 if size <= 4 else struct.unpack_from(order + "I", block, position + 8)[0]
        if size <= MAX_BLOCK_BYTES and start + size <= len(block):
            tags[tag] = block[start : start + size]


def _read_png(data: bytes, metadata: _Metadata) -> None:
    position = 8
    for _ in range(_MAX_BLOCKS):
        length, kind = struct.unpack_from(">I4s", data, position)
        body = data[position + 8 : position + 8 + length] if kind in _PNG_KINDS else b""
        if kind == b"caBX" and length <= MAX_STORE_BYTES:
            metadata.store = metadata.store or body
        elif kind == b"IEND":
            return
        elif body and length <= MAX_BLOCK_BYTES:
            if kind == b"eXIf":
                metadata.exif = metadata.exif or body
            else:
                _read_png_text(kind, body, metadata)
        position += 12 + length


_PNG_KINDS = frozenset((b"caBX", b"eXIf", b"tEXt", b"zTXt", b"iTXt"))


def _read_png_text(kind: bytes, body: bytes, metadata: _Metadata) -> None:
    name, _, rest = body.partition(b"\0")
    key, encoding = name.decode("latin-1"), "latin-1"
    compressed = kind == b"zTXt"
    if kind == b"iTXt":
        compressed = rest[:1] == b"\1"
        rest = b"\0" + rest[2:].split(b"\0", 2)[-1]  # language and translated keyword go before the text
        encoding = "utf-8"
    if kind != b"tEXt":
        rest = rest[1:]
    if compressed:
        if metadata.inflated > MAX_STORE_BYTES:
            return
        try:
            rest = zlib.decompressobj().decompress(rest, MAX_BLOCK_BYTES)
        except zlib.error:
            return
        metadata.inflated += len(rest)
    if key == _XMP_IN_PNG:
        metadata.xmp = metadata.xmp or rest
    else:
        metadata.texts.append((key, rest.decode(encoding, "replace")))


def _read_jpeg(data: bytes, metadata: _Metadata) -> None:
    position = 2
    boxes: dict[int, bytearray] = {}
    for _ in range(_MAX_BLOCKS):
        while data[position + 1] == 0xFF:  # fill bytes
            position += 1
        marker, length = struct.unpack_from(">HH", data, position)
        if marker in (0xFFDA, 0xFFD9):
            break
        body = data[position + 4 : position + 2 + length]
        if marker == 0xFFE1 and body.startswith(b"Exif\0\0"):
            metadata.exif = metadata.exif or body[6:]
        elif marker == 0xFFE1 and body.startswith(_XMP_IN_JPEG):
            metadata.xmp = metadata.xmp or body[len(_XMP_IN_JPEG) :]
        elif marker == 0xFFEB and body.startswith(b"JP") and len(body) >= 16:
            number, packet = struct.unpack_from(">HI", body, 2)
            header = 16 if body[8:12] == b"\0\0\0\1" else 8
            # each segment of a box repeats its header (ISO/IEC 19566-5, annex D)
            boxes.setdefault(number, bytearray()).extend(body[8 if packet == 1 else 8 + header :])
        position += 2 + length
    metadata.store = b"".join(bytes(box) for _, box in sorted(boxes.items()) if b"c2pa" in box[:128])


def _read_webp(data: bytes, metadata: _Metadata) -> None:
    position = 12
    for _ in range(_MAX_BLOCKS):
        if position + 8 > len(data):
            return
        kind, length = struct.unpack_from("<4sI", data, position)
        body = data[position + 8 : position + 8 + length] if kind in (b"EXIF", b"XMP ", b"C2PA") else b""
        if kind == b"EXIF":
            metadata.exif = body.removeprefix(b"Exif\0\0")
        elif kind == b"XMP ":
            metadata.xmp = body[:MAX_BLOCK_BYTES]
        elif kind == b"C2PA" and length <= MAX_STORE_BYTES:
            metadata.store = body
        position += 8 + length + (length & 1)


def _read_avif(data: bytes, metadata: _Metadata) -> None:
    position = 0
    for _ in range(_MAX_BLOCKS):
        if position + 8 > len(data):
            break
        length, kind = struct.unpack_from(">I4s", data, position)
        header = 8
        if length == 1:
            (length,) = struct.unpack_from(">Q", data, position + 8)
            header = 16
        length = length or len(data) - position
        if length < header:
            break
        if kind == b"uuid" and data[position + header : position + header + 16] == _C2PA_BOX:
            metadata.store = data[position + header + 16 : position + min(length, MAX_STORE_BYTES)]
        position += length
    # EXIF and XMP of an AVIF are items of the picture, which its decoder hands out
    try:
        exif, metadata.xmp = embedded_metadata(data)
    except UndecodableArtifactError:
        return
    metadata.exif = exif.removeprefix(b"Exif\0\0")


def _read_tiff(data: bytes, metadata: _Metadata) -> None:
    metadata.exif = data


_READERS = {"PNG": _read_png, "JPEG": _read_jpeg, "WEBP": _read_webp, "AVIF": _read_avif, "TIFF": _read_tiff}
