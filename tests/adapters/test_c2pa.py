"""``c2pa``: real files, signed here and read back; what is hostile, absent, broken or elsewhere ends as what it is."""

import hashlib
import io
import json
import random
import sys
import threading
import wave
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as PillowImage

from pytest_benchbench import AdapterUnavailable, Sample
from pytest_benchbench.adapters.c2pa import C2pa, C2paOptions, C2paReadError
from pytest_benchbench.adapters.pool import AdapterChoice, AdapterOptionError, PooledAdapter
from pytest_benchbench.artifacts.loading import ArtifactLoader
from pytest_benchbench.evidence.observing import PinnedFile, Question, observe

NOISE = np.random.default_rng(0).integers(0, 256, (48, 64, 3)).astype(np.uint8)


def picture(pillow: str) -> bytes:
    stream = io.BytesIO()
    PillowImage.fromarray(NOISE).save(stream, pillow)
    return stream.getvalue()


def sound() -> bytes:
    stream = io.BytesIO()
    with wave.open(stream, "wb") as file:
        file.setparams((1, 2, 16_000, 0, "NONE", ""))
        file.writeframes(NOISE.tobytes())
    return stream.getvalue()


def encoded(container: str, codec: str) -> bytes:
    """A fifth of a second of pictures or of noise."""
    av = pytest.importorskip("av")
    stream = io.BytesIO()
    with av.open(stream, "w", format=container) as file:
        if codec in ("mpeg4", "libx264"):
            track = file.add_stream(codec, rate=25)
            track.width, track.height, track.pix_fmt = 64, 48, "yuv420p"
            frames = [av.VideoFrame.from_ndarray(NOISE, format="rgb24") for _ in range(5)]
        else:
            track = file.add_stream(codec, rate=16_000)
            frame = av.AudioFrame.from_ndarray(NOISE.reshape(1, -1).view(np.int16), format="s16", layout="mono")
            frame.rate = 16_000
            frames = av.AudioResampler(track.format, "mono", 16_000, frame_size=track.frame_size or 1024).resample(frame)
        for frame in frames:
            file.mux(track.encode(frame))
        file.mux(track.encode())
    return stream.getvalue()


FILES = {
    "png": ("image", "image/png", lambda: picture("PNG")),
    "jpeg": ("image", "image/jpeg", lambda: picture("JPEG")),
    "webp": ("image", "image/webp", lambda: picture("WEBP")),
    "gif": ("image", "image/gif", lambda: picture("GIF")),
    "tiff": ("image", "image/tiff", lambda: picture("TIFF")),
    "avif": ("image", "image/avif", lambda: picture("AVIF")),
    "wav": ("audio", "audio/wav", sound),
    "mp3": ("audio", "audio/mpeg", lambda: encoded("mp3", "libmp3lame")),
    "m4a": ("audio", "audio/mp4", lambda: encoded("ipod", "aac")),
    "flac": ("audio", "audio/flac", lambda: encoded("flac", "flac")),
    "mp4": ("video", "video/mp4", lambda: encoded("mp4", "libx264")),
    "mov": ("video", "video/quicktime", lambda: encoded("mov", "libx264")),
    "avi": ("video", "video/x-msvideo", lambda: encoded("avi", "mpeg4")),
}


def ask(adapter: C2pa, data: bytes, media_type: str = "image"):
    return adapter.detect(Sample(media_type, hashlib.sha256(data).hexdigest(), data))


def load(**options) -> C2pa:
    adapter = C2pa(C2paOptions(**options))
    adapter.load()
    return adapter


@pytest.fixture(scope="module")
def adapter(authority):
    adapter = load()
    yield adapter
    adapter.close()


@pytest.fixture(scope="module")
def anchors(authority, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("trust") / "anchors.pem"
    path.write_bytes(authority.root)
    return path


@pytest.fixture(scope="module")
def signed(authority) -> bytes:
    return authority.sign(picture("PNG"), "image/png")


@pytest.mark.parametrize("kind", FILES)
def test_a_signed_file_is_detected_and_the_clean_one_is_not(adapter, authority, kind):
    media_type, mime, make = FILES[kind]
    clean = make()
    detection = ask(adapter, authority.sign(clean, mime), media_type)
    assert (detection.status, detection.label) == ("detected", "trainedAlgorithmicMedia")
    detection = ask(adapter, clean, media_type)
    assert (detection.status, detection.reason) == ("not_detected", "no C2PA manifest in the file")
    assert detection.label is detection.scorer is None


def test_the_evidence_says_what_was_validated_and_what_is_stated(adapter, signed):
    before = datetime.now(UTC).date()
    detection = ask(adapter, signed)
    assert detection.reason == "Valid manifest: signingCredential.untrusted"
    scorer = dict(detection.scorer)
    assert before.isoformat() <= scorer.pop("validated_on") <= datetime.now(UTC).date().isoformat()
    stated = scorer.pop("stated")
    assert stated.pop("active_manifest").startswith("urn:c2pa:")
    assert stated == {
        "manifests": 1,
        "claim_generator": "benchbench-tests/1",
        "digital_source_types": ["trainedAlgorithmicMedia"],
        "signature": {
            "algorithm": "Es256",
            "organization": "Tests signer",
            "common_name": "signer",
            "serial_number": "4711",
        },
    }
    assert scorer == {
        "validation_state": "Valid",
        "success": [
            "assertion.dataHash.match",
            "assertion.hashedURI.match",
            "claimSignature.insideValidity",
            "claimSignature.validated",
        ],
        "informational": ["signingCredential.ocsp.skipped"],
        "failure": ["signingCredential.untrusted"],
        "time_basis": "day of validation",
        "require": "valid",
    }


def test_a_trust_list_makes_its_signers_trusted_and_is_named(authority, anchors, signed):
    adapter = load(trust_anchors=anchors)
    detection = ask(adapter, signed)
    assert (detection.status, detection.reason) == ("detected", "Trusted manifest")
    digest = hashlib.sha256(authority.root).hexdigest()
    assert detection.scorer["trust_list"] == {"name": "anchors.pem", "sha256": digest, "certificates": 1}
    assert f"trust anchors: anchors.pem, 1 certificates, SHA-256 {digest}" in adapter.describe().rule
    assert str(anchors.parent) not in adapter.describe().rule


def test_trusted_may_be_required(authority, anchors, signed):
    adapter = load(trust_anchors=anchors, require="trusted")
    assert ask(adapter, signed).status == "detected"
    stranger = ask(adapter, type(authority).make().sign(picture("PNG"), "image/png"))
    assert (stranger.status, stranger.label) == ("not_detected", None)
    assert stranger.reason == "Valid manifest: signingCredential.untrusted"


def test_a_flipped_bit_makes_the_manifest_invalid_and_its_words_unverified(adapter, authority):
    data = bytearray(authority.sign(picture("PNG"), "image/png"))
    data[-1_000] ^= 1  # the pixels lie behind the manifest
    detection = ask(adapter, bytes(data))
    assert (detection.status, detection.label) == ("not_detected", None)
    assert detection.reason == "Invalid manifest: assertion.dataHash.mismatch, signingCredential.untrusted"
    assert detection.scorer["validation_state"] == "Invalid"
    assert detection.scorer["stated_unverified"]["digital_source_types"] == ["trainedAlgorithmicMedia"]
    assert "stated" not in detection.scorer


def test_saving_again_loses_the_manifest(adapter, signed):
    stream = io.BytesIO()
    PillowImage.open(io.BytesIO(signed)).save(stream, "PNG")
    assert ask(adapter, stream.getvalue()).reason == "no C2PA manifest in the file"


def test_a_certificate_that_has_expired_makes_the_manifest_invalid(authority, anchors):
    data = authority.sign_expired(picture("PNG"), "image/png")
    for adapter in (load(), load(trust_anchors=anchors)):
        detection = ask(adapter, data)
        assert detection.status == "not_detected"
        assert detection.reason == "Invalid manifest: signingCredential.expired, signingCredential.untrusted"
        assert "claimSignature.validated" in detection.scorer["success"]  # nothing but the date is against it
        assert detection.scorer["time_basis"] == "day of validation"


def test_a_manifest_that_states_no_source_has_no_label(adapter, authority, c2pa_definition):
    created = {"label": "c2pa.actions", "data": {"actions": [{"action": "c2pa.created"}]}}
    data = authority.sign(picture("PNG"), "image/png", c2pa_definition(assertions=[created], claim_version=1))
    assert (ask(adapter, data).status, ask(adapter, data).label) == ("detected", None)


def test_several_source_types_are_named_in_one_order(adapter, authority, c2pa_definition):
    prefix = "http://cv.iptc.org/newscodes/digitalsourcetype/"
    manifest = c2pa_definition(f"{prefix}digitalCapture", f"{prefix}compositeSynthetic", claim_version=1)
    assert ask(adapter, authority.sign(picture("PNG"), "image/png", manifest)).label == "compositeSynthetic, digitalCapture"


@pytest.fixture
def server():
    """A server on this machine that writes down what it is asked for."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_manifest_at_a_url_is_not_fetched(adapter, authority, server):
    url, asked = server
    data = authority.sign(picture("JPEG"), "image/jpeg", url=f"{url}/manifest.c2pa", embed=False)
    detection = ask(adapter, data)
    assert asked == []
    assert (detection.status, detection.scorer) == ("disabled", {"remote_manifest": f"{url}/manifest.c2pa"})

    import c2pa

    with pytest.raises(c2pa.C2paError, match="404"):  # the package by itself would have asked
        c2pa.Reader("image/jpeg", io.BytesIO(data))
    assert asked == ["/manifest.c2pa"]


def test_a_manifest_in_the_file_is_read_whatever_url_stands_beside_it(adapter, authority, server):
    url, asked = server
    data = authority.sign(picture("JPEG"), "image/jpeg", url=f"{url}/manifest.c2pa")
    assert ask(adapter, data).status == "detected"
    assert asked == []


@pytest.mark.parametrize(
    ("data", "media_type", "known"),
    [
        (b"", "image", "PNG, JPEG, WebP, GIF, TIFF, AVIF, HEIC and JPEG XL"),
        (b"just text", "audio", "WAV, MP3, FLAC and M4A"),
        (picture("BMP"), "image", "PNG, JPEG, WebP, GIF, TIFF, AVIF, HEIC and JPEG XL"),
        (picture("PNG"), "audio", "WAV, MP3, FLAC and M4A"),
        (sound(), "video", "MP4, MOV and AVI"),
    ],
    ids=["empty", "text", "bmp", "png-as-audio", "wav-as-video"],
)
def test_what_cannot_be_asked_is_unsupported(adapter, data, media_type, known):
    detection = ask(adapter, data, media_type)
    assert detection.status == "unsupported"
    assert detection.reason == f"C2PA manifests are read from {known}; the file is none of them"


def test_a_file_that_breaks_off_is_an_error(adapter, signed):
    with pytest.raises(C2paReadError, match="asset could not be parsed"):
        ask(adapter, signed[: len(signed) // 2])


@pytest.mark.parametrize("kind", FILES)
def test_damaged_files_end_in_a_defined_outcome(adapter, authority, kind):
    media_type, mime, make = FILES[kind]
    whole, draw = authority.sign(make(), mime), random.Random(f"damage {kind}")
    seen = set()
    for number in range(60):
        damaged = bytearray(whole)
        if number % 3 == 0:
            del damaged[draw.randrange(len(damaged)) :]
        for _ in range(number % 3 * number):
            damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
        try:
            detection = ask(adapter, bytes(damaged), media_type)
        except C2paReadError:
            continue
        seen.add(detection.status)
        assert detection.status in {"detected", "not_detected", "unsupported"}
        state = None if detection.scorer is None else detection.scorer["validation_state"]
        assert (state in {"Valid", "Trusted"}) == (detection.status == "detected")
    assert "not_detected" in seen


def test_a_huge_claim_is_bounded_in_the_evidence(adapter, authority, c2pa_definition):
    manifest = c2pa_definition(
        *(f"http://example.org/{number:06}" for number in range(4_000)),
        claim_generator_info=[{"name": "g\n" * 5_000, "version": "1"}],
        claim_version=1,  # a later claim may not be created twice
    )
    detection = ask(adapter, authority.sign(picture("PNG"), "image/png", manifest))
    assert detection.status == "detected"
    assert len(json.dumps(detection.scorer)) < 10_000
    assert detection.scorer["left_out"] == {"digital_source_types": 4_000 - 24}


def test_threads_may_ask_one_instance(adapter, authority, signed):
    questions = [(signed, "detected"), (picture("JPEG"), "not_detected")] * 40
    with ThreadPoolExecutor(4) as threads:
        answers = threads.map(lambda question: ask(adapter, question[0]).status, questions)
    assert list(answers) == [status for _, status in questions]


def test_what_a_report_repeats_does_not_change_with_the_day(adapter, signed):
    detection = ask(adapter, signed)
    repeated = f"{detection.reason} {detection.label} {adapter.describe().rule}"
    assert detection.scorer["validated_on"][:5] not in repeated


def test_the_same_file_gives_the_same_answer(adapter, signed):
    assert len({json.dumps(ask(adapter, signed).scorer) for _ in range(5)}) == 1


def test_in_a_run(tmp_path, authority, signed):
    (tmp_path / "signed.png").write_bytes(signed)
    pinned = PinnedFile("signed.png", hashlib.sha256(signed).hexdigest())
    pooled = PooledAdapter(AdapterChoice("c2pa", "c2pa"), C2pa)
    observation = observe(Question("image", pinned, None, tmp_path, expected="detected"), pooled, ArtifactLoader())
    assert observation.outcome == "match"
    assert observation.detection.scorer["validation_state"] == "Valid"
    assert observation.artifact.decoding is None
    pooled.close()


def test_the_description_names_versions_and_what_the_verdict_depends_on(adapter):
    description = adapter.describe()
    assert description.version.startswith("c2pa-python 0.")
    assert ", c2pa-rs 0." in description.version
    assert "validation state is Valid or Trusted" in description.rule
    assert "may change with the date" in description.rule
    assert "trust anchors: none" in description.rule
    assert description.weights == ()


def chosen(tmp_path: Path, text: str):
    return AdapterChoice.parse(text).options_for(C2pa, directory=tmp_path)


def test_options(tmp_path):
    assert chosen(tmp_path, "c2pa:trust_anchors=a.pem,require=trusted") == C2paOptions(tmp_path / "a.pem", "trusted")
    for text, message in [
        ("c2pa:anchors=a.pem", "unknown option 'anchors'; it has: trust_anchors, require"),
        ("c2pa:require=signed", "require=signed: expected one of trusted, valid"),
        ("c2pa:require=trusted", "needs a trust list, trust_anchors=FILE.pem"),
    ]:
        with pytest.raises(AdapterOptionError, match=message):
            chosen(tmp_path, text)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read: No such file or directory"),
        (b"", "is no list of certificates"),
        (b"rubbish", "is no list of certificates"),
        (b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "is no list of certificates"),
        (bytes((1 << 24) + 1), "has more than 16,777,216 bytes"),
    ],
    ids=["absent", "empty", "text", "no-certificate", "large"],
)
def test_a_trust_list_that_is_none_is_unavailable(authority, tmp_path, content, message):
    path = tmp_path / "anchors.pem"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(AdapterUnavailable, match=message) as refusal:
        load(trust_anchors=path)
    assert "trust_anchors=" in refusal.value.install


def test_one_bad_certificate_among_good_ones_is_refused(authority, tmp_path):
    path = tmp_path / "anchors.pem"
    path.write_bytes(authority.root + b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    with pytest.raises(AdapterUnavailable, match="is no list of certificates"):
        load(trust_anchors=path)


def test_without_the_package_it_is_unavailable(monkeypatch):
    monkeypatch.setitem(sys.modules, "c2pa", None)
    with pytest.raises(AdapterUnavailable, match="c2pa-python cannot be imported") as refusal:
        load()
    assert refusal.value.install == "pip install 'pytest-benchbench[c2pa]'"


def test_it_must_be_loaded_first():
    with pytest.raises(RuntimeError, match=r"load\(\) comes first"):
        C2pa().describe()
