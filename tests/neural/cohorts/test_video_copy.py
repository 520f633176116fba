"""Cleaning a picture does not touch the sound: a video's visible mark is painted over, its audio packets are copied."""

import hashlib
import io
from fractions import Fraction

import numpy as np
import pytest

pytest.importorskip("torch")
av = pytest.importorskip("av")

from pytest_benchbench.adapters.base import Sample  # noqa: E402 - the packages come first
from pytest_benchbench.adapters.perth import Perth  # noqa: E402
from pytest_benchbench.artifacts.audio import decode_audio  # noqa: E402
from pytest_benchbench.artifacts.video import decode_video  # noqa: E402
from pytest_benchbench.cohorts.carriers.audio import CARRIERS as SOUNDS  # noqa: E402
from pytest_benchbench.cohorts.carriers.video import CARRIERS as CLIPS  # noqa: E402

FRAMES = 24
MARK = (slice(8, 40), slice(8, 104))


@pytest.fixture(scope="module")
def perth():
    adapter = Perth()
    adapter.load()
    return adapter


def verdict(perth, file):
    return perth.detect(Sample("audio", hashlib.sha256(file).hexdigest(), file, decode_audio(file)))


def audio_packets(file):
    with av.open(io.BytesIO(file), format="mp4") as container:
        return [bytes(packet) for packet in container.demux(audio=0) if packet.size]


def encode_frames(container, stream, frames):
    for number, pixels in enumerate(frames):
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(pixels), format="rgb24").reformat(format="yuv420p")
        frame.pts, frame.time_base = number, Fraction(1, 24)
        container.mux(stream.encode(frame))
    container.mux(stream.encode(None))


def video_stream(container):
    stream = container.add_stream("libx264", rate=24, options={"crf": "12", "threads": "1"})
    stream.width, stream.height, stream.pix_fmt = 256, 256, "yuv420p"
    return stream


@pytest.fixture(scope="module")
def visibly_marked(perth):
    """A clip with a white bar in its corner and a sound that carries Perth's mark, as MP4 with AAC."""
    sound = next(carrier for carrier in SOUNDS if carrier.name == "pinkish-noise").draw()
    marked = perth.embedder().embed_samples(sound, None)
    frames = next(carrier for carrier in CLIPS if carrier.name == "moving-gradient").draw().frames[:FRAMES].copy()
    frames[:, *MARK] = 255
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as container:
        video, audio = video_stream(container), container.add_stream("aac", rate=16_000, bit_rate=96_000, layout="mono")
        encode_frames(container, video, frames)
        frame = av.AudioFrame.from_ndarray(marked[np.newaxis].astype(np.float32), format="fltp", layout="mono")
        frame.rate, frame.pts, frame.time_base = 16_000, 0, Fraction(1, 16_000)
        container.mux(audio.encode(frame))
        container.mux(audio.encode(None))
    return buffer.getvalue()


@pytest.fixture(scope="module")
def cleaned(visibly_marked):
    """The same file with the bar painted over and the audio packets copied."""
    frames = np.stack([np.rint(frame * 255).astype(np.uint8) for frame in decode_video(visibly_marked).frames()])
    frames[:, *MARK] = frames[:, 40:72, 8:104]
    buffer = io.BytesIO()
    with av.open(io.BytesIO(visibly_marked), format="mp4") as source, av.open(buffer, "w", format="mp4") as target:
        video, audio = video_stream(target), target.add_stream_from_template(source.streams.audio[0])
        encode_frames(target, video, frames)
        for packet in source.demux(audio=0):
            if packet.size:
                packet.stream = audio
                target.mux(packet)
    return buffer.getvalue()


def test_the_picture_was_cleaned(visibly_marked, cleaned):
    before, after = (next(decode_video(file).frames())[MARK] for file in (visibly_marked, cleaned))
    assert before.mean() > 0.95
    assert after.mean() < 0.8


def test_the_audio_packets_are_the_same_bytes(visibly_marked, cleaned):
    packets = audio_packets(visibly_marked)
    assert len(packets) > 100
    assert audio_packets(cleaned) == packets


def test_perth_says_the_same_about_both(perth, visibly_marked, cleaned):
    before, after = verdict(perth, visibly_marked), verdict(perth, cleaned)
    assert before.status == "detected"
    assert (after.status, after.score, after.label) == (before.status, before.score, before.label)
