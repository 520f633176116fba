"""What a WAV, FLAC, MP3, ADTS or Ogg file's own bytes say before anything is decoded: is it whole, how many samples has it.

The decoders leave this open: libsndfile shortens a WAV to what is there, FFmpeg passes over lost Ogg pages and takes an MP3
without its second half for a short one.
"""

from __future__ import annotations

import re
import struct
import zlib
from dataclasses import dataclass
from typing import Literal

from pytest_benchbench.artifacts.containers import id3_bytes
from pytest_benchbench.artifacts.media import UndecodableArtifactError

MAX_PARTS = 1_000_000
"""Chunks, frames or pages beyond which a file is refused: an hour of audio has less than a fifth of that."""

_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE
_GUID_TAIL = bytes.fromhex("000000001000800000aa00389b71")
_WAV_BITS = {_PCM: (8, 16, 24, 32), _FLOAT: (32, 64)}

_MP3_RATES = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}
"""Version field of the frame header (3: MPEG-1, 2: MPEG-2, 0: MPEG-2.5) to sample rates in Hz (ISO/IEC 11172-3, 13818-3)."""

_MP3_KBITS_1 = (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)
_MP3_KBITS_2 = (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)
_VBRI_OFFSET = 36
_GAPLESS_WRITERS = (b"LAME", b"Lavf", b"Lavc")
_DECODER_DELAY = 529
"""Samples by which every MP3 decoder is late: 528 and one (LAME's technical FAQ; FFmpeg's ``mp3dec.c``)."""

_ADTS_RATES = (96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350)
_ID3V1_BYTES = 128
_APE_BYTES = 32
_APE_HAS_HEADER = 1 << 31
_LYRICS_END = re.compile(rb"(\d{6})LYRICS200\Z")

OPUS_RATE = 48_000
"""Hz in which an Opus file counts its samples, whatever its source had (RFC 7845)."""

OPUS_SOURCE_RATES = (8_000, 192_000)
"""Hz between which the rate of an Opus file's source is told in earnest (RFC 7845, 5.1); 0 leaves it open."""

_OGG_HEADER_BYTES = 27
_ENDS = 4
_BITS_REVERSED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


@dataclass(frozen=True, slots=True)
class PcmLayout:
    """What the header of an uncompressed or losslessly compressed file declares.

    Attributes:
        kind: ``int`` or ``float``.
        bits: Bits of a stored sample.
        channels: Number of channels.
        rate: Sample rate in Hz.
        frames: Samples of each channel.
        md5: Digest of the samples that a FLAC file declares; ``None`` without one.
    """

    kind: Literal["int", "float"]
    bits: int
    channels: int
    rate: int
    frames: int
    md5: bytes | None = None


@dataclass(frozen=True, slots=True)
class FrameRun:
    """The frames that an MP3 or ADTS file consists of.

    Attributes:
        start: Where the first frame begins, in bytes.
        end: Where the last one ends.
        rate: Sample rate in Hz that the headers declare.
        packets: Frames that a demuxer gives, the one with an MP3's table of contents not among them.
        samples: Samples of each channel; what the headers declare, before the decoder's own doubling (HE-AAC).
        gapless: Whether the file says how much encoder delay and padding to take off; ``samples`` is then without them.
    """

    start: int
    end: int
    rate: int
    packets: int
    samples: int
    gapless: bool


def wav_layout(data: bytes) -> PcmLayout:
    """Find the samples of a WAV file and check that all of them are there.

    Raises:
        UndecodableArtifactError: The file breaks off, contradicts itself, or its samples are not 8, 16, 24 or 32-bit
            integers or 32 or 64-bit floats.
    """
    layout: tuple[int, int, int, int, int] | None = None
    position = 12
    for _ in range(MAX_PARTS):
        if position + 8 > len(data):
            raise UndecodableArtifactError("the WAV file is truncated: it ends before its samples")
        kind, size = struct.unpack_from("<4sI", data, position)
        position += 8
        if kind == b"data":
            if layout is None:
                raise UndecodableArtifactError("the WAV file has no format before its samples")
            if position + size > len(data):
                raise UndecodableArtifactError(
                    f"the WAV file is truncated: it declares {size} bytes of samples and has {len(data) - position}"
                )
            tag, channels, rate, frame_bytes, bits = layout
            if size % frame_bytes:
                raise UndecodableArtifactError("the WAV file ends inside a sample")
            return PcmLayout("int" if tag == _PCM else "float", bits, channels, rate, size // frame_bytes)
        if kind == b"fmt ":
            layout = _wav_format(data[position : position + size])
        position += size + (size & 1)
    raise UndecodableArtifactError(f"the WAV file has more than {MAX_PARTS} chunks")


def _wav_format(content: bytes) -> tuple[int, int, int, int, int]:
    if len(content) < 16:
        raise UndecodableArtifactError("the format of the WAV file is too short")
    tag, channels, rate, _, frame_bytes, bits = struct.unpack_from("<HHIIHH", content)
    if tag == _EXTENSIBLE and content[26:40] == _GUID_TAIL:
        (tag,) = struct.unpack_from("<H", content, 24)
    if bits not in _WAV_BITS.get(tag, ()):
        raise UndecodableArtifactError(
            f"WAV samples of format {tag:#06x} with {bits} bits are not decoded; convert the file to PCM"
        )
    if not channels or frame_bytes != channels * bits // 8:
        raise UndecodableArtifactError("the format of the WAV file contradicts itself")
    return tag, channels, rate, frame_bytes, bits


def flac_layout(data: bytes) -> PcmLayout:
    """Read the STREAMINFO block of a FLAC file that begins with ``fLaC`` (RFC 9639, section 8.2).

    Raises:
        UndecodableArtifactError: There is none, or it does not say how many samples there are.
    """
    if len(data) < 42 or data[4] & 0x7F != 0 or int.from_bytes(data[5:8], "big") != 34:
        raise UndecodableArtifactError("the FLAC file has no STREAMINFO block")
    packed = int.from_bytes(data[18:26], "big")  # 20 bits rate, 3 channels - 1, 5 depth - 1, 36 samples
    frames = packed & (1 << 36) - 1
    if not frames:
        raise UndecodableArtifactError("the FLAC file does not say how many samples it has; write it again from a file")
    md5 = data[26:42]
    channels, bits = (packed >> 41 & 7) + 1, (packed >> 36 & 31) + 1
    return PcmLayout("int", bits, channels, packed >> 44, frames, md5 if any(md5) else None)


def mp3_frames(data: bytes) -> FrameRun:
    """Walk the frames of an MP3 file and hold their number against the one in its Xing, Info or VBRI header.

    Only tags (ID3v1, APEv2, Lyrics3) may follow the last frame.

    Raises:
        UndecodableArtifactError: The file breaks off, something else stands between its frames, the bit rate is free, or
            there are fewer or more frames than declared.
    """
    start = position = id3_bytes(data)
    end = _sound_end(data, start)
    count = spf = rate = 0
    version = None
    while position < end:
        header = data[position : position + 4]
        if len(header) < 4:
            raise UndecodableArtifactError("the MP3 file is truncated inside a frame")
        kind, kbits, rate_index = header[1] >> 3 & 3, header[2] >> 4, header[2] >> 2 & 3
        if header[0] != 0xFF or header[1] & 0xE6 != 0xE2 or kind == 1 or kbits in (0, 15) or rate_index == 3:
            raise UndecodableArtifactError(f"no MP3 frame with a fixed bit rate at byte {position}")
        if version is None:
            version, rate, spf = kind, _MP3_RATES[kind][rate_index], 1152 if kind == 3 else 576
        elif kind != version or _MP3_RATES[kind][rate_index] != rate:
            raise UndecodableArtifactError(f"the sample rate changes at byte {position}")
        bitrate = 1000 * (_MP3_KBITS_1 if kind == 3 else _MP3_KBITS_2)[kbits]
        position += spf // 8 * bitrate // rate + (header[2] >> 1 & 1)
        count += 1
        if count > MAX_PARTS:
            raise UndecodableArtifactError(f"the MP3 file has more than {MAX_PARTS} frames")
    if position > end:
        raise UndecodableArtifactError("the MP3 file is truncated inside its last frame")
    described, declared, trimmed = _mp3_header_frame(data[start : start + 1024])
    count -= described
    if declared and declared != count:
        raise UndecodableArtifactError(f"the MP3 file declares {declared} frames and has {count}")
    samples = count * spf
    if declared and trimmed is not None:
        samples = max(samples - trimmed[0], 0) - trimmed[1]
    return FrameRun(start, position, rate, count, samples, bool(declared) and trimmed is not None)


def _mp3_header_frame(frame: bytes) -> tuple[bool, int, tuple[int, int] | None]:
    """Read the Xing, Info or VBRI header in the first frame.

    Returns:
        Whether the first frame is such a header and no sound; the number of frames it declares, 0 for none; the samples to
        take off at the beginning and at the end, decoder delay considered, where a LAME tag says so.
    """
    mono, version = frame[3] >> 6 == 3, frame[1] >> 3 & 3
    position = 4 + ((17 if mono else 32) if version == 3 else (9 if mono else 17))
    if frame[_VBRI_OFFSET : _VBRI_OFFSET + 4] == b"VBRI":
        size, frames = struct.unpack_from(">II", frame, _VBRI_OFFSET + 10)
        return bool(size or frames), frames, None
    if frame[position : position + 4] not in (b"Xing", b"Info"):
        return False, 0, None
    flags = frame[position + 7]
    position += 8
    frames = int.from_bytes(frame[position : position + 4], "big") if flags & 1 else 0
    position += 4 if flags & 1 else 0
    size = int.from_bytes(frame[position : position + 4], "big") if flags & 2 else 0
    position += (4 if flags & 2 else 0) + (100 if flags & 4 else 0) + (4 if flags & 8 else 0)
    trimmed = None
    if frame[position : position + 4] in _GAPLESS_WRITERS:
        packed = int.from_bytes(frame[position + 21 : position + 24], "big")
        trimmed = ((packed >> 12) + _DECODER_DELAY, max((packed & 0xFFF) - _DECODER_DELAY, 0))
    return bool(frames or size), frames, trimmed


def adts_frames(data: bytes) -> FrameRun:
    """Walk the frames of a raw AAC file (ISO/IEC 13818-7, section 6.2).

    Raises:
        UndecodableArtifactError: The file breaks off inside a frame, or something else stands between its frames.
    """
    start = position = id3_bytes(data)
    end = _sound_end(data, start)
    count = blocks = 0
    rate: int | None = None
    while position < end:
        header = data[position : position + 7]
        if len(header) < 7:
            raise UndecodableArtifactError("the ADTS file is truncated inside a frame")
        size = (header[3] & 3) << 11 | header[4] << 3 | header[5] >> 5
        rate_index = header[2] >> 2 & 15
        if header[0] != 0xFF or header[1] & 0xF6 != 0xF0 or size < 7 or rate_index >= len(_ADTS_RATES):
            raise UndecodableArtifactError(f"no ADTS frame at byte {position}")
        if rate is not None and _ADTS_RATES[rate_index] != rate:
            raise UndecodableArtifactError(f"the sample rate changes at byte {position}")
        rate = _ADTS_RATES[rate_index]
        position += size
        count += 1
        blocks += 1 + (header[6] & 3)
        if count > MAX_PARTS:
            raise UndecodableArtifactError(f"the ADTS file has more than {MAX_PARTS} frames")
    if position > end:
        raise UndecodableArtifactError("the ADTS file is truncated inside its last frame")
    return FrameRun(start, position, rate or 0, count, 1024 * blocks, gapless=False)


def _sound_end(data: bytes, start: int) -> int:
    """Give where the tags at the end of a file begin: ID3v1, Lyrics3 2.00 and APEv2, in any order, all after ``start``."""
    end = len(data)
    while True:
        if data[end - _ID3V1_BYTES : end].startswith(b"TAG"):
            size = _ID3V1_BYTES
        elif (footer := data[end - _APE_BYTES : end]).startswith(b"APETAGEX") and len(footer) == _APE_BYTES:
            size, _, flags = struct.unpack_from("<III", footer, 12)
            size = max(size, _APE_BYTES) + (_APE_BYTES if flags & _APE_HAS_HEADER else 0)
        elif lyrics := _LYRICS_END.search(data[end - 15 : end]):
            size = int(lyrics[1]) + len(lyrics[0])
        else:
            return end
        if end - size < start:
            return end
        end -= size


def ogg_sound(data: bytes) -> tuple[Literal["vorbis", "opus"], int]:
    """Walk the pages of an Ogg file (RFC 3533): every checksum holds, none is missing, and the last one says that it is.

    Returns:
        The codec of the one stream, and where it ends in samples at its own rate (Opus: 48 kHz, the encoder's delay taken
        off): what the last page says, which may lie before the end of the last packet.

    Raises:
        UndecodableArtifactError: One of these is not so, there is another stream, the stream is neither Vorbis nor Opus, or
            it is Opus and does not say which rate its source had.
    """
    first: tuple[int, int, int] | None = None
    position = flags = granule = 0
    for page in range(MAX_PARTS):
        if position == len(data):
            break
        head = data[position : position + _OGG_HEADER_BYTES]
        if len(head) < _OGG_HEADER_BYTES or head[:5] != b"OggS\0":
            raise UndecodableArtifactError(f"the Ogg file is damaged or truncated: no page at byte {position}")
        if flags & _ENDS:
            raise UndecodableArtifactError("the Ogg file holds streams one after another; split it")
        flags, granule, serial, number, checksum, segments = struct.unpack_from("<BqIIIB", head, 5)
        body = position + _OGG_HEADER_BYTES + segments
        end = body + sum(data[position + _OGG_HEADER_BYTES : body])
        if end > len(data):
            raise UndecodableArtifactError(f"the Ogg file is truncated inside the page at byte {position}")
        if checksum != _ogg_checksum(data[position : position + 22] + b"\0\0\0\0" + data[position + 26 : end]):
            raise UndecodableArtifactError(f"wrong checksum of the Ogg page at byte {position}")
        first = first or (serial, number, body)
        if serial != first[0]:
            raise UndecodableArtifactError("the Ogg file holds several streams; keep the sound alone")
        if number != first[1] + page & 0xFFFFFFFF:
            raise UndecodableArtifactError(f"a page is missing before byte {position} of the Ogg file")
        position = end
    else:
        raise UndecodableArtifactError(f"the Ogg file has more than {MAX_PARTS} pages")
    if first is None or not flags & _ENDS:
        raise UndecodableArtifactError("the Ogg file is truncated: it ends without its last page")
    body = first[2]
    if data.startswith(b"\x01vorbis", body):
        return "vorbis", granule
    if data.startswith(b"OpusHead", body):
        delay = int.from_bytes(data[body + 10 : body + 12], "little")
        source_rate = int.from_bytes(data[body + 12 : body + 16], "little")
        if not OPUS_SOURCE_RATES[0] <= source_rate <= OPUS_SOURCE_RATES[1]:
            raise UndecodableArtifactError(f"the Opus file gives {source_rate} Hz as the rate of its source; convert it")
        return "opus", granule - delay
    raise UndecodableArtifactError("the Ogg file holds neither Vorbis nor Opus; convert it")


def _ogg_checksum(page: bytes) -> int:
    """CRC-32 of polynomial 0x04c11db7, bits unreflected, from 0; zlib's is the reflected one, from and over ones."""
    reflected = zlib.crc32(page.translate(_BITS_REVERSED), 0xFFFFFFFF) ^ 0xFFFFFFFF
    return int.from_bytes(reflected.to_bytes(4, "little").translate(_BITS_REVERSED), "big")
