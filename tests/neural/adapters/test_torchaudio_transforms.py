"""The transforms that stand in for torchaudio's, beside librosa and torch."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
librosa = pytest.importorskip("librosa")

from pytest_benchbench.adapters.torchaudio_transforms import InverseSpectrogram, Spectrogram, TimeStretch  # noqa: E402

SHAPE = {"n_fft": 2048, "win_length": 2048, "hop_length": 320, "window_fn": torch.hann_window}
"""As Perth uses them."""


@pytest.fixture(scope="module")
def sound():
    return (np.random.default_rng(1).standard_normal(16_000) * 0.1).astype(np.float32)


def test_the_spectrogram_is_librosas(sound):
    ours = Spectrogram(**SHAPE)(torch.from_numpy(sound)).numpy()
    theirs = librosa.stft(sound, n_fft=2048, hop_length=320, window="hann", center=True, pad_mode="reflect")
    assert ours.shape == theirs.shape == (1025, 51)
    np.testing.assert_allclose(ours, theirs, atol=2e-5)


def test_the_way_back_is_librosas_and_the_identity(sound):
    spectrogram = Spectrogram(**SHAPE)(torch.from_numpy(sound))
    ours = InverseSpectrogram(**SHAPE)(spectrogram).numpy()
    theirs = librosa.istft(spectrogram.numpy(), n_fft=2048, hop_length=320, window="hann")
    assert ours.shape == (16_000,)
    np.testing.assert_allclose(ours, theirs, atol=1e-6)
    np.testing.assert_allclose(ours, sound, atol=1e-6)


def test_channels_are_transformed_alike(sound):
    both = torch.from_numpy(np.stack([sound, -sound]))
    spectrogram = Spectrogram(**SHAPE)(both)
    assert spectrogram.shape == (2, 1025, 51)
    assert torch.equal(spectrogram[0], Spectrogram(**SHAPE)(both[0]))
    assert InverseSpectrogram(**SHAPE)(spectrogram).shape == (2, 16_000)


def test_the_buffers_are_those_of_torchaudio():
    assert {name: tuple(buffer.shape) for name, buffer in Spectrogram(**SHAPE).state_dict().items()} == {"window": (2048,)}
    stretch = TimeStretch(n_freq=1025, hop_length=320).state_dict()
    assert list(stretch) == ["phase_advance"]
    assert stretch["phase_advance"].shape == (1025, 1)
    assert stretch["phase_advance"][-1].item() == pytest.approx(np.pi * 320)


def test_what_perth_does_not_ask_for_is_refused():
    with pytest.raises(ValueError, match="only the complex spectrogram"):
        Spectrogram(**SHAPE, power=2.0)
    with pytest.raises(ValueError, match="without normalisation"):
        InverseSpectrogram(**SHAPE, normalized=True)
