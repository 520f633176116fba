import sys

import numpy as np
import pytest

from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.attacks.registry import attacks_of

INSTALL = r"pip install 'pytest-benchbench\[cohorts,audio,video\]'"


@pytest.mark.parametrize(
    ("package", "media_type", "name"),
    [
        ("av", "audio", "mp3-128"),
        ("soundfile", "audio", "vorbis-0.5"),
        ("soxr", "audio", "resample-8000"),
        ("scipy.signal", "audio", "lowpass-3500"),
        ("av", "video", "h264-23"),
    ],
)
def test_a_missing_package_is_named_with_the_command_that_installs_it(package, media_type, name, media, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(CohortError, match=rf"^[^\n]*{INSTALL}$"):
        attacks_of(media_type)[name].apply(media[media_type])


def test_an_avif_without_its_codec_is_refused(monkeypatch):
    monkeypatch.setattr("PIL.features.check", lambda feature: feature != "avif")
    with pytest.raises(CohortError, match=r"^Pillow lacks AVIF here: pip install 'Pillow>=11.3'$"):
        attacks_of("image")["avif-80"].apply(np.zeros((8, 8, 3), np.uint8))
