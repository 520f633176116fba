"""Image, sound and video files for the tests of this room: real codecs, and a PNG writer for what Pillow does not write."""

import hashlib
import io
import struct
import zlib
from fractions import Fraction

import numpy as np
import pytest
from PIL import Image as Pillow


def _encode(picture, image_format, **options):
    """Encode an array or a Pillow image."""
    picture = picture.copy() if isinstance(picture, Pillow.Image) else Pillow.fromarray(picture)
    file = io.BytesIO()
    picture.save(file, image_format, **options)
    return file.getvalue()


def _chunk(kind, content):
    """One chunk of a PNG."""
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def _write_png(rows, width, height, *, depth, colour_type, extra=()):
    """A PNG of packed rows, with extra chunks before its pixels."""
    header = struct.pack(">IIBBBBB", width, height, depth, colour_type, 0, 0, 0)
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", header),
            *extra,
            _chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows))),
            _chunk(b"IEND", b""),
        )
    )


def _noise(height, width, channels=3, seed=0):
    """Random samples, shape (height, width, channels)."""
    return np.random.default_rng(seed).integers(0, 256, (height, width, channels), dtype=np.uint8)


def _files():
    picture, transparent = Pillow.fromarray(_noise(12, 17)), Pillow.fromarray(_noise(12, 17, 4))
    gray, palette = picture.convert("L"), picture.quantize(16)
    deep = Pillow.fromarray(np.random.default_rng(1).integers(0, 65536, (12, 17), dtype=np.uint16))
    others = [picture.rotate(180), picture.transpose(Pillow.Transpose.FLIP_LEFT_RIGHT)]
    exif = Pillow.Exif()
    exif[0x0112] = 6
    return {
        "png": _encode(picture, "PNG", exif=exif, icc_profile=b"profile" * 30),
        "png-alpha": _encode(transparent, "PNG"),
        "png-palette": _encode(palette, "PNG", transparency=b"\x00\x80"),
        "png-16": _encode(deep, "PNG"),
        "png-animated": _encode(picture, "PNG", save_all=True, append_images=others),
        "jpeg": _encode(picture, "JPEG", exif=exif),
        "jpeg-progressive": _encode(picture, "JPEG", progressive=True),
        "jpeg-gray": _encode(gray, "JPEG"),
        "jpeg-cmyk": _encode(picture.convert("CMYK"), "JPEG"),
        "webp": _encode(picture, "WEBP"),
        "webp-lossless": _encode(transparent, "WEBP", lossless=True, exact=True),
        "webp-animated": _encode(picture, "WEBP", save_all=True, append_images=others),
        "avif": _encode(picture, "AVIF", max_threads=1),
        "avif-alpha": _encode(transparent, "AVIF", max_threads=1),
        "tiff": _encode(picture, "TIFF", tiffinfo={274: 6}),
        "tiff-lzw": _encode(picture, "TIFF", compression="tiff_lzw"),
        "tiff-jpeg": _encode(picture, "TIFF", compression="jpeg"),
        "tiff-palette": _encode(palette, "TIFF"),
        "tiff-16": _encode(deep, "TIFF"),
        "tiff-big": _encode(picture, "TIFF", big_tiff=True),
        "bmp": _encode(picture, "BMP"),
        "bmp-palette": _encode(palette, "BMP"),
        "gif": _encode(palette, "GIF", transparency=3),
        "gif-animated": _encode(palette, "GIF", save_all=True, append_images=[other.quantize(8) for other in others]),
        "jp2": _encode(picture, "JPEG2000"),
        "j2k": _encode(transparent, "JPEG2000", no_jp2=True),
        "ppm": _encode(picture, "PPM"),
        "pgm-16": _encode(deep, "PPM"),
    }


FILES = _files()


@pytest.fixture(scope="session")
def encode():
    """``encode(array or Pillow image, format, **options) -> bytes``."""
    return _encode


@pytest.fixture(scope="session")
def chunk():
    """``chunk(kind, content) -> bytes``: one chunk of a PNG."""
    return _chunk


@pytest.fixture(scope="session")
def write_png():
    """``write_png(packed rows, width, height, depth=, colour_type=, extra=chunks) -> bytes``."""
    return _write_png


@pytest.fixture(scope="session")
def noise():
    """``noise(height, width, channels=3, seed=0) -> uint8 array``."""
    return _noise


@pytest.fixture(scope="session")
def files():
    """Small whole files by name, at least one for each format and each path through its decoder."""
    return FILES


@pytest.fixture(params=FILES, scope="session")
def whole_file(request):
    """Each of ``files`` in turn."""
    return FILES[request.param]


@pytest.fixture
def save(tmp_path):
    """``save(name, data) -> (path, digest)``."""

    def write(name, data):
        path = tmp_path / name
        path.write_bytes(data)
        return path, hashlib.sha256(data).hexdigest()

    return write


def _tone(samples, rate, channels=1):
    """A rising tone in noise, shape (samples, channels), float32: its autocorrelation has one sharp peak."""
    random, time = np.random.default_rng(rate), np.arange(samples) / rate
    tone = 0.3 * np.sin(2 * np.pi * (200 + 150 * time) * time)[:, None] * np.linspace(1, 0.5, channels)
    return (tone + 0.05 * random.standard_normal((samples, channels))).astype(np.float32)


def _encode_with_ffmpeg(samples, rate, codec, container, bits=16, options=None):
    import av

    file, layout = io.BytesIO(), "mono" if samples.shape[1] == 1 else "stereo"
    with av.open(file, "w", format=container, options=options or {}) as out:
        stream = out.add_stream(codec, rate=rate, layout=layout)
        stream.bit_rate = 128_000
        if codec in ("alac", "flac"):
            stream.codec_context.format = {("alac", 16): "s16p", ("alac", 24): "s32p"}.get((codec, bits), "s16")
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples.T), format="fltp", layout=layout)
        frame.sample_rate, frame.pts = rate, 0
        convert = av.AudioResampler(format=stream.codec_context.format.name, layout=layout, rate=rate)
        for piece in [*convert.resample(frame), *convert.resample(None)]:
            out.mux(stream.encode(piece))
        out.mux(stream.encode(None))
    return file.getvalue()


def _encode_with_libsndfile(samples, rate, container, subtype=None):
    import soundfile

    file = io.BytesIO()
    soundfile.write(file, samples, rate, format=container, subtype=subtype)
    return file.getvalue()


_SOUNDS = {
    "wav": lambda: _encode_with_libsndfile(_tone(8000, 16000), 16000, "WAV", "PCM_16"),
    "wav-float-stereo": lambda: _encode_with_libsndfile(_tone(8000, 44100, 2), 44100, "WAV", "FLOAT"),
    "wav-extensible": lambda: _encode_with_libsndfile(_tone(8000, 48000, 2), 48000, "WAVEX", "PCM_24"),
    "flac": lambda: _encode_with_libsndfile(_tone(8000, 16000), 16000, "FLAC", "PCM_16"),
    "flac-24": lambda: _encode_with_ffmpeg(_tone(8000, 44100, 2), 44100, "flac", "flac"),
    "mp3": lambda: _encode_with_ffmpeg(_tone(8000, 16000), 16000, "libmp3lame", "mp3"),
    "mp3-stereo": lambda: _encode_with_libsndfile(_tone(22050, 44100, 2), 44100, "MP3"),
    "m4a": lambda: _encode_with_ffmpeg(_tone(8000, 16000), 16000, "aac", "ipod"),
    "m4a-stereo": lambda: _encode_with_ffmpeg(_tone(22050, 44100, 2), 44100, "aac", "mp4"),
    "m4a-alac": lambda: _encode_with_ffmpeg(_tone(8000, 16000), 16000, "alac", "ipod"),
    "adts": lambda: _encode_with_ffmpeg(_tone(8000, 16000), 16000, "aac", "adts"),
    "vorbis": lambda: _encode_with_libsndfile(_tone(8000, 16000), 16000, "OGG", "VORBIS"),
    "opus": lambda: _encode_with_ffmpeg(_tone(8000, 16000), 16000, "libopus", "ogg"),
    "opus-stereo": lambda: _encode_with_libsndfile(_tone(24000, 48000, 2), 48000, "OGG", "OPUS"),
}


@pytest.fixture(scope="session")
def tone():
    """``tone(samples, rate, channels=1) -> float32 (samples, channels)``."""
    return _tone


@pytest.fixture(scope="session")
def encode_with_ffmpeg():
    """``encode_with_ffmpeg(samples (n, channels), rate, codec, container, bits=16, options=of the muxer) -> bytes``."""
    return _encode_with_ffmpeg


@pytest.fixture(scope="session")
def encode_with_libsndfile():
    """``encode_with_libsndfile(samples (n, channels), rate, container, subtype=None) -> bytes``."""
    return _encode_with_libsndfile


@pytest.fixture(scope="session")
def sounds():
    """Small whole files by name, half a second each, at least one for each format and each path through its decoder."""
    return {name: make() for name, make in _SOUNDS.items()}


@pytest.fixture(params=_SOUNDS, scope="session")
def whole_sound(request, sounds):
    """Each of ``sounds`` in turn."""
    return sounds[request.param]


def _encode_video(
    frames,
    codec="ffv1",
    container="matroska",
    pixel_format="bgr0",
    *,
    rate=Fraction(25),
    ticks=None,
    options=None,
    prepare=None,
    container_options=None,
):
    """A video of arrays (H, W, 3) or of PyAV's frames; ``prepare(stream)`` sets what a header is to say."""
    import av

    stored = io.BytesIO()
    with av.open(stored, "w", format=container, options=container_options or {}) as file:
        stream = file.add_stream(codec, rate=rate, options={"threads": "1", **(options or {})})
        first = frames[0]
        stream.height, stream.width = first.shape[:2] if isinstance(first, np.ndarray) else (first.height, first.width)
        stream.pix_fmt = pixel_format
        if prepare:
            prepare(stream)
        for index, frame in enumerate(frames):
            if isinstance(frame, np.ndarray):
                frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), "rgb24")
                frame = frame.reformat(format=pixel_format, dst_colorspace=5, dst_color_range=1)
            frame.pts, frame.time_base = (ticks or range(len(frames)))[index], 1 / rate
            file.mux(stream.encode(frame))
        file.mux(stream.encode(None))
    return stored.getvalue()


def _clip(count=12, height=80, width=112):
    """A smooth picture that moves and grows brighter, so that no two frames are alike and codecs keep it well."""
    rows, columns = np.mgrid[:height, :width]
    waves = [128 + 60 * np.sin((rows * (channel + 1) + columns * 2) / 17 + channel) for channel in range(3)]
    still = np.stack(waves, axis=-1)
    return [np.clip(np.roll(still, 3 * index, 1) + 4 * index - 24, 0, 255).astype(np.uint8) for index in range(count)]


@pytest.fixture(scope="session")
def encode_video():
    """``encode_video(frames, codec, container, pixel format, ...) -> bytes``; FFV1 in Matroska unless said otherwise."""
    return _encode_video


@pytest.fixture(scope="session")
def clip():
    """``clip(count=12, height=80, width=112)``: a list of (height, width, 3) uint8 arrays, each different."""
    return _clip


_VIDEOS = {
    "h264-mp4": ("libx264", "mp4", "yuv420p"),
    "h264-matroska": ("libx264", "matroska", "yuv420p"),
    "h264-mpegts": ("libx264", "mpegts", "yuv420p"),
    "h265-mp4": ("libx265", "mp4", "yuv420p"),
    "vp8-webm": ("libvpx", "webm", "yuv420p"),
    "vp9-webm": ("libvpx-vp9", "webm", "yuv420p"),
    "av1-mp4": ("libsvtav1", "mp4", "yuv420p"),
    "ffv1-matroska": ("ffv1", "matroska", "bgra"),
    "mjpeg-avi": ("mjpeg", "avi", "yuvj420p"),
    "mpeg4-avi": ("mpeg4", "avi", "yuv420p"),
}


@pytest.fixture(scope="session")
def videos():
    """Small whole videos by name, 12 frames of 112x80: each container, and each way in which a decoder reports damage."""
    quiet = {"libx265": {"x265-params": "log-level=none:pools=none:frame-threads=1"}}
    return {name: _encode_video(_clip(), *kind, options=quiet.get(kind[0])) for name, kind in _VIDEOS.items()}


@pytest.fixture(params=_VIDEOS, scope="session")
def whole_video(request, videos):
    """Each of ``videos`` in turn."""
    return videos[request.param]
