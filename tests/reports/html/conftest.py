"""Real files to draw, and failing cases about them."""

import base64
import hashlib
import io
from fractions import Fraction

import msgspec
import numpy as np
import pytest
from PIL import Image

from pytest_benchbench.evidence.observation import EvidenceRow
from pytest_benchbench.evidence.reading import SettledRow
from pytest_benchbench.reports.html.failing import FailingCase
from pytest_benchbench.reports.html.figure import File


def _picture(width=320, height=200, shift=0):
    rows, columns = np.mgrid[:height, :width]
    waves = [128 + 60 * np.sin((rows * (channel + 1) + 2 * columns + shift) / 17 + channel) for channel in range(3)]
    return np.stack(waves, axis=-1).astype(np.uint8)


class Media:
    """Writes media into a folder, each as the ``File`` that a request names."""

    def __init__(self, folder):
        self.folder = folder

    def put(self, name, data):
        (self.folder / name).write_bytes(data)
        return File(name, hashlib.sha256(data).hexdigest(), (bytes(self.folder / name),))

    def png(self, pixels, name="cat.png"):
        stored = io.BytesIO()
        Image.fromarray(pixels).save(stored, "PNG", compress_level=1)
        return self.put(name, stored.getvalue())

    def wav(self, samples, name="voice.wav", subtype="PCM_16"):
        soundfile = pytest.importorskip("soundfile")
        stored = io.BytesIO()
        soundfile.write(stored, samples, 16_000, format="WAV", subtype=subtype)
        return self.put(name, stored.getvalue())

    def video(self, frames, name="clip.mkv"):
        av = pytest.importorskip("av")
        stored = io.BytesIO()
        with av.open(stored, "w", format="matroska") as file:
            stream = file.add_stream("ffv1", rate=Fraction(25), options={"threads": "1"})
            stream.height, stream.width, stream.pix_fmt = *frames[0].shape[:2], "bgr0"
            for number, pixels in enumerate(frames):
                frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(pixels), "rgb24").reformat(format="bgr0")
                frame.pts, frame.time_base = number, Fraction(1, 25)
                file.mux(stream.encode(frame))
            file.mux(stream.encode(None))
        return self.put(name, stored.getvalue())


@pytest.fixture
def media(tmp_path):
    """Write media into the test's own folder."""
    return Media(tmp_path)


@pytest.fixture(scope="session")
def picture():
    """``picture(width=320, height=200, shift=0)``: smooth (height, width, 3) uint8; another one for another shift."""
    return _picture


@pytest.fixture
def case(row):
    """``case(File, media_type, reference=File, ...)``: a failing case about files that lie beside their manifest."""

    def make(artifact, media_type="image", *, reference=None, case_id="c1", temporal=None, **fields):
        told = {
            "case_id": case_id,
            "media_type": media_type,
            "path": artifact.name,
            "reference_path": reference and reference.name,
            "reference_sha256": reference and reference.sha256,
            "expected": "detected",
            **fields,
        }
        document = row(case_id, case=told, status="not_detected", expected="detected", temporal=temporal)
        document["artifact"]["sha256"] = artifact.sha256
        return FailingCase(SettledRow(msgspec.convert(document, EvidenceRow), "mismatch", False, 1, b""))

    return make


@pytest.fixture(scope="session")
def pixels_of():
    """Decode the picture of a ``Figure``: RGBA, (height, width, 4)."""
    return lambda figure: np.asarray(
        Image.open(io.BytesIO(base64.b64decode(figure.data_uri.partition(",")[2]))).convert("RGBA")
    )
