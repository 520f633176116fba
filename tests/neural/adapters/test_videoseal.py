"""``videoseal`` on a TorchScript program with the methods of the published one, whose logits the frames themselves choose.

Meta's file is not there: what is tested is what does not depend on it. The methods and their arguments are those of
the TorchScript page of facebookresearch/videoseal.
"""

import hashlib
import weakref
from fractions import Fraction

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from pytest_benchbench import AdapterUnavailable, Sample  # noqa: E402 - after the skip
from pytest_benchbench.adapters import videoseal  # noqa: E402
from pytest_benchbench.adapters.messages import foreign_message  # noqa: E402
from pytest_benchbench.adapters.seal_rule import MESSAGE  # noqa: E402
from pytest_benchbench.adapters.torch_runtime import CheckpointError, hushed  # noqa: E402
from pytest_benchbench.adapters.videoseal import VideoSeal, VideoSealEmbedder, VideoSealOptions  # noqa: E402
from pytest_benchbench.artifacts.video import Video  # noqa: E402


class Published(torch.nn.Module):
    """The first pixel of a frame says what is read: red x 256 wrong bits, with logits of 1 / (1 - green)."""

    def __init__(self):
        super().__init__()
        self.register_buffer("message", torch.tensor(MESSAGE) * 2.0 - 1.0)

    def forward(self, imgs: torch.Tensor, msgs: torch.Tensor, is_video: bool = False):
        return self.embed(imgs, msgs, is_video), self.detect(imgs, is_video)

    @torch.jit.export
    def detect(self, imgs: torch.Tensor, is_video: bool = False) -> torch.Tensor:
        if not is_video:
            return torch.zeros(len(imgs), 257)
        first = imgs[:, :, 0, 0]
        wrong = (first[:, 0] * 256).round().unsqueeze(1)
        signs = torch.where(torch.arange(256).unsqueeze(0) < wrong, -self.message, self.message)
        logits = signs / (1 - first[:, 1:2])
        return torch.cat([torch.full((len(imgs), 1), -9.0), logits], dim=1)

    @torch.jit.export
    def embed(self, imgs: torch.Tensor, msgs: torch.Tensor, is_video: bool = False) -> torch.Tensor:
        if not is_video:
            return imgs
        return imgs + msgs.float().mean() - imgs[:, :, 0:1, 0:1]


class WithoutEmbed(torch.nn.Module):
    @torch.jit.export
    def detect(self, imgs: torch.Tensor, is_video: bool = False) -> torch.Tensor:
        return imgs

    def forward(self, imgs: torch.Tensor) -> torch.Tensor:
        return imgs


class OfOtherLength(torch.nn.Module):
    @torch.jit.export
    def detect(self, imgs: torch.Tensor, is_video: bool = False) -> torch.Tensor:
        return torch.zeros(len(imgs), 97)

    @torch.jit.export
    def embed(self, imgs: torch.Tensor, msgs: torch.Tensor, is_video: bool = False) -> torch.Tensor:
        return imgs[:1]

    def forward(self, imgs: torch.Tensor) -> torch.Tensor:
        return imgs


class OneForAllFrames(OfOtherLength):
    @torch.jit.export
    def detect(self, imgs: torch.Tensor, is_video: bool = False) -> torch.Tensor:
        return torch.zeros(1, 257)


@pytest.fixture
def program(tmp_path):
    def write(network: type[torch.nn.Module]) -> VideoSealOptions:
        path = tmp_path / "y_256b_img.jit"
        with hushed():
            torch.jit.save(torch.jit.script(network()), str(path))
        return VideoSealOptions(weights=path, allow_unpinned=True)

    return write


def load(options: VideoSealOptions) -> VideoSeal:
    adapter = VideoSeal(options)
    adapter.load()
    return adapter


@pytest.fixture
def adapter(program):
    return load(program(Published))


def frames(*readings: tuple[int, float]) -> np.ndarray:
    """Frames that are read with so many wrong bits, and logits of such a size."""
    clip = np.zeros((len(readings), 4, 6, 3), np.float32)
    for frame, (wrong, size) in zip(clip, readings, strict=True):
        frame[0, 0] = wrong / 256, 1 - 1 / size, 0.5
    return clip


def sample(clip: np.ndarray) -> Sample:
    return Sample("video", "0" * 64, b"", Video(clip.shape, Fraction(25), {"rule": "test"}, None, None, clip))


@pytest.mark.parametrize(("wrong", "status"), [(0, "detected"), (25, "detected"), (26, "not_detected")])
def test_a_clip_is_detected_by_its_message(adapter, wrong, status):
    detection = adapter.detect(sample(frames((wrong, 1), (wrong, 1))))
    assert (detection.status, detection.message_bit_accuracy) == (status, (256 - wrong) / 256)
    if not wrong:
        assert detection.label == hashlib.sha256(b"pytest-benchbench").hexdigest()


def test_one_frame_is_a_clip(adapter):
    assert adapter.detect(sample(frames((0, 1)))).temporal["frames"] == 1


def test_the_logits_of_all_frames_are_averaged(adapter):
    detection = adapter.detect(sample(frames((256, 1), (256, 1), (0, 4))))
    assert (detection.status, detection.message_bit_accuracy) == ("detected", 1.0)
    assert detection.temporal == {
        "frames": 3,
        "bit_accuracy": {"min": 0.0, "mean": pytest.approx(1 / 3), "max": 1.0, "series": [0.0, 0.0, 1.0]},
    }


@pytest.mark.parametrize("chunk", [1, 3, 16, 64])
def test_the_size_of_a_chunk_changes_nothing(adapter, monkeypatch, chunk):
    clip = sample(frames(*((wrong % 257, 1 + wrong % 3) for wrong in range(0, 40 * 7, 7))))
    usual = adapter.detect(clip)
    monkeypatch.setattr(videoseal, "CHUNK_FRAMES", chunk)
    assert adapter.detect(clip) == usual
    assert usual.temporal["frames"] == 40


def test_frames_are_streamed(adapter):
    """No more of them are alive than a chunk has, and the one that was the first of the chunk before."""
    given, alive = [], []

    class Counted(Video):
        def frames(self):
            for _ in range(100):
                frame = frames((0, 1))[0].copy()
                given.append(weakref.ref(frame))
                alive.append(sum(one() is not None for one in given))
                yield frame

        def array(self):
            raise AssertionError("the clip is not to be held as a whole")

    clip = Counted((100, 4, 6, 3), Fraction(25), {}, None, None, np.zeros((0, 4, 6, 3), np.float32))
    assert adapter.detect(Sample("video", "0" * 64, b"", clip)).temporal["frames"] == len(given) == 100
    assert max(alive) <= videoseal.CHUNK_FRAMES + 1


def test_numbers_that_are_not_finite_are_no_answer(adapter):
    with pytest.raises(ValueError, match="not finite"):
        adapter.detect(sample(frames((0, 1), (0, np.inf))))


@pytest.mark.parametrize("network", [OfOtherLength, OneForAllFrames])
def test_logits_of_another_shape_are_no_answer(program, network):
    with pytest.raises(ValueError, match="the network gave an array of shape"):
        load(program(network)).detect(sample(frames((0, 1), (0, 1))))


def test_embedding_hands_over_the_clip_and_the_message(program):
    embedder = VideoSealEmbedder(program(Published))
    clip = frames((0, 1), (0, 1))
    marked = embedder.embed_frames(clip, foreign_message(256))
    assert (marked.shape, marked.dtype) == (clip.shape, np.float32)
    share = np.mean(foreign_message(256), dtype=np.float32)
    assert np.allclose(marked[:, 0, 0], share)
    assert marked.min() >= 0.0
    assert clip[0, 0, 0].tolist() == [0.0, 0.0, 0.5]


def test_embedding_into_a_decoded_video_keeps_its_rate(program):
    embedder = VideoSealEmbedder(program(Published))
    clip = sample(frames((0, 1), (0, 1)))
    marked = embedder.embed(clip)
    assert (marked.shape, marked.rate) == ((2, 4, 6, 3), Fraction(25))
    assert np.array_equal(marked.array(), embedder.embed_frames(clip.decoded.array(), MESSAGE))
    assert not marked.array().flags.writeable


@pytest.mark.parametrize("message", [(1,) * 255, (1,) * 257, (2,) * 256])
def test_only_256_bits_are_embedded(program, message):
    with pytest.raises(ValueError, match="expected a message of 256 bits"):
        VideoSealEmbedder(program(Published)).embed_frames(frames((0, 1)), message)


@pytest.mark.parametrize(
    "clip",
    [frames((0, 1))[0], frames(), frames((0, 1)).astype(np.float64), frames((0, 1))[..., :2]],
    ids=["frame", "empty", "float64", "two-colours"],
)
def test_what_is_no_clip_is_not_marked(program, clip):
    with pytest.raises(ValueError, match=r"expected \(T, H, W, 3\) float32"):
        VideoSealEmbedder(program(Published)).embed_frames(clip)


def test_a_marked_clip_of_another_shape_is_refused(program):
    with pytest.raises(ValueError, match=r"the network gave frames of shape \(1, 4, 6, 3\), not \(2, 4, 6, 3\)"):
        VideoSealEmbedder(program(OfOtherLength)).embed_frames(frames((0, 1), (0, 1)))


def test_a_marked_clip_with_numbers_that_are_not_finite_is_refused(program):
    clip = frames((0, 1), (0, 1))
    clip[1, 2, 2, 2] = np.nan
    with pytest.raises(ValueError, match="the network gave numbers that are not finite"):
        VideoSealEmbedder(program(Published)).embed_frames(clip)


def test_the_pin_is_asked_for_before_the_program_is_loaded(program):
    given = program(Published)
    with pytest.raises(AdapterUnavailable, match=r"y_256b_img\.jit has SHA-256"):
        load(VideoSealOptions(weights=given.weights))


def test_the_pinned_program_is_taken_without_a_word(program, monkeypatch):
    path = program(Published).weights
    monkeypatch.setattr(videoseal, "PIN", hashlib.sha256(path.read_bytes()).hexdigest())
    assert "pinned" not in load(VideoSealOptions(weights=path)).describe().rule


def test_other_bytes_are_no_program(program):
    given = program(Published)
    given.weights.write_bytes(b"no program")
    with pytest.raises(CheckpointError, match=r"y_256b_img\.jit is no TorchScript program"):
        load(given)


def test_a_checkpoint_of_the_package_is_no_program(program):
    given = program(Published)
    torch.save({"model": {}}, given.weights)
    with pytest.raises(CheckpointError, match="is no TorchScript program"):
        load(given)


def test_another_program_is_refused_when_it_is_loaded(program):
    with pytest.raises(CheckpointError, match="it has no embed"):
        load(program(WithoutEmbed))


def test_the_description_names_the_file_and_the_aggregation(adapter):
    description = adapter.describe()
    assert [file.name for file in description.weights] == ["y_256b_img.jit"]
    assert description.version.startswith("TorchScript file by option, torch ")
    assert "raw logits of all frames are averaged" in description.rule
    assert description.rule.endswith("the weights are not the pinned ones (allow_unpinned)")
    assert adapter.embedder().weights == description.weights
