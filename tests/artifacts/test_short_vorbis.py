import io

import numpy as np
import pytest
import soundfile

from pytest_benchbench.artifacts.audio import decode_audio


@pytest.mark.parametrize("samples", [4_000, 8_000, 16_000, 24_000])
def test_a_vorbis_file_of_any_length_keeps_it(samples):
    sound = 0.3 * np.sin(np.arange(samples) / 9)
    buffer = io.BytesIO()
    soundfile.write(buffer, sound, 16_000, format="OGG", subtype="VORBIS")
    audio = decode_audio(buffer.getvalue())
    assert len(audio.samples) == samples
    assert audio.decoding["decoder"].startswith("libsndfile ")
