"""Laws that hold for every attack that is registered."""

import json
import os
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from pytest_benchbench.artifacts.image import decode_image
from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.attacks.attack import Attacked
from pytest_benchbench.cohorts.attacks.image_metadata import ImageFile
from pytest_benchbench.cohorts.attacks.registry import (
    DEFAULT_AUDIO_ATTACKS,
    DEFAULT_IMAGE_ATTACKS,
    DEFAULT_VIDEO_ATTACKS,
    attacks_of,
    families_of,
    find_attacks,
)
from pytest_benchbench.cohorts.clips import Clip
from pytest_benchbench.cohorts.pictures import encode_png

MEDIA_TYPES = ("image", "audio", "video", "image-file")
EVERY_ATTACK = [(media_type, name) for media_type in MEDIA_TYPES for name in attacks_of(media_type)]
EVERY_FAMILY = [(media_type, family) for media_type in MEDIA_TYPES for family in families_of(media_type)]

LOSSY = {"mp3", "aac", "opus", "vorbis", "h264", "h265", "vp9", "webp", "avif"}
"""Codecs decide for themselves what to lose: a step of their grids may cost nothing, the whole grid has to."""


def values(medium):
    if isinstance(medium, ImageFile):
        return medium.image.pixels
    return medium.frames if isinstance(medium, Clip) else medium


def quality_db(attacked, original):
    """Give the power of the original over that of the difference, in dB."""
    difference = attacked.astype(float) - original
    return 10 * np.log10(np.sum(original.astype(float) ** 2) / np.sum(difference**2))


@pytest.fixture(scope="session")
def twice(media):
    """Attack twice by every attack, once for all tests."""
    done = {}

    def attacking(media_type, name):
        if (media_type, name) not in done:
            attack = attacks_of(media_type)[name]
            done[media_type, name] = (attack.apply(media[media_type]), attack.apply(media[media_type]))
        return done[media_type, name]

    return attacking


@pytest.mark.parametrize(("media_type", "name"), EVERY_ATTACK)
def test_an_attack_repeats_itself_as_it_promises(media_type, name, twice, read):
    attack = attacks_of(media_type)[name]
    first, second = twice(media_type, name)
    assert (first.parameters, first.extension) == (second.parameters, second.extension)
    if attack.reproducible == "bytes":
        assert first.data == second.data
    else:
        assert np.array_equal(read(media_type, first), read(media_type, second))


DIGESTS = """
import hashlib, json, sys
from fractions import Fraction
import numpy as np
from pytest_benchbench.artifacts.image import decode_image
from pytest_benchbench.cohorts.attacks.image_metadata import ImageFile
from pytest_benchbench.cohorts.attacks.registry import attacks_of
from pytest_benchbench.cohorts.clips import Clip
from pytest_benchbench.cohorts.sounds import decode_sound
loaded = np.load(sys.argv[1])
file = loaded["image-file"].tobytes()
media = {
    "image": loaded["image"],
    "audio": loaded["audio"],
    "video": Clip(loaded["video"], Fraction(25)),
    "image-file": ImageFile(file, decode_image(file)),
}
digests = {}
for media_type, medium in media.items():
    for name, attack in attacks_of(media_type).items():
        data = attack.apply(medium).data
        if attack.reproducible == "samples":
            assert media_type == "audio", media_type
            data = decode_sound(data).tobytes()
        digests[media_type + "/" + name] = hashlib.sha256(data).hexdigest()
print(json.dumps(digests))
"""


def test_what_lay_in_memory_gets_into_no_file(media, tmp_path):
    """The C library fills what is asked for and given back with a byte that is told: who reads it unwritten, betrays it."""
    arrays = {**media, "video": media["video"].frames, "image-file": np.frombuffer(media["image-file"].data, np.uint8)}
    np.savez(tmp_path / "media.npz", **arrays)
    told = []
    for fill in ("0", "1", "170"):
        child = [sys.executable, "-c", DIGESTS, tmp_path / "media.npz"]
        said = subprocess.run(child, env={**os.environ, "MALLOC_PERTURB_": fill}, capture_output=True, text=True, check=True)
        told.append(json.loads(said.stdout))
    assert told[0].keys() == {f"{media_type}/{name}" for media_type, name in EVERY_ATTACK}
    assert [name for name in told[0] if len({digests[name] for digests in told}) > 1] == []


@pytest.mark.parametrize(("media_type", "name"), EVERY_ATTACK)
def test_what_keeps_positions_keeps_the_shape(media_type, name, twice, read, media):
    attack = attacks_of(media_type)[name]
    shape = read(media_type, twice(media_type, name)[0]).shape
    if attack.keeps_positions:
        assert shape == values(media[media_type]).shape
    assert len(shape) == {"image": 3, "audio": 1, "video": 4, "image-file": 3}[media_type]


@pytest.mark.parametrize("media_type", MEDIA_TYPES)
def test_every_record_is_json_and_tells_its_attack_from_all_others(media_type, twice):
    records = {}
    for name, attack in attacks_of(media_type).items():
        parameters = twice(media_type, name)[0].parameters
        record = json.dumps({"seed": attack.seed, **parameters}, sort_keys=True, allow_nan=False)
        assert json.loads(record) == {"seed": attack.seed, **parameters}
        assert records.setdefault(record, name) == name
        assert parameters["encoder"]["library"]


@pytest.mark.parametrize(("media_type", "family"), EVERY_FAMILY)
def test_a_grid_goes_one_way(media_type, family):
    attacks = families_of(media_type)[family]
    strengths = [attack.strength for attack in attacks]
    assert strengths in (sorted(set(strengths)), sorted(set(strengths), reverse=True))
    assert all(attack.name.startswith(family.removesuffix("-unrestored").removesuffix("-420").removesuffix("-restored"))
               for attack in attacks)  # fmt: skip


@pytest.mark.parametrize(
    ("media_type", "family"),
    [pair for pair in EVERY_FAMILY if families_of(pair[0])[pair[1]][0].keeps_positions],
)
def test_a_grid_of_attacks_in_place_goes_from_weak_to_strong(media_type, family, twice, read, media):
    attacks = families_of(media_type)[family]
    original = values(media[media_type])
    losses = [quality_db(read(media_type, twice(media_type, attack.name)[0]), original) for attack in attacks]
    slack = 1.0 if family in LOSSY else 0.05
    assert all(weak > strong - slack for weak, strong in pairwise(losses)), losses
    assert losses[0] > losses[-1] + 0.5, losses


def test_the_registry_has_every_kind_of_attack():
    families = {media_type: {attack.family for attack in attacks_of(media_type).values()} for media_type in MEDIA_TYPES}
    assert families["image"] >= {
        "jpeg", "jpeg-420", "webp", "avif", "resize", "resize-unrestored", "crop", "crop-unrestored", "crop-centre",
        "rotate", "hflip", "perspective", "blur", "median", "sharpen", "noise", "brightness-up", "brightness-down",
        "contrast-up", "contrast-down", "saturation-up", "saturation-down", "hue-up", "hue-down", "gamma-up", "gamma-down",
        "grayscale", "overlay-text", "alpha-composite", "alpha-patch", "combined", "combined-omniseal", "long-side",
        "crop-somewhere", "combined-upload", "combined-repost", "combined-screenshot", "combined-thumbnail",
    }  # fmt: skip
    assert families["image-file"] == {"metadata-intact", "metadata-stripped"}
    assert families["audio"] >= {
        "mp3", "aac", "opus", "vorbis", "noise", "resample", "lowpass", "highpass", "bandpass", "gain-up", "gain-down",
        "echo", "speed-fast", "speed-slow", "stretch-fast", "stretch-slow", "quantise", "crop",
    }  # fmt: skip
    assert families["video"] >= {
        "h264", "h265", "vp9", "downscale", "crop-centre", "halve-rate", "frame-drop", "frame-average", "frames-jpeg",
        "frames-blur", "frames-noise", "combined",
    }  # fmt: skip


def test_the_defaults_are_registered():
    assert len(find_attacks("image", DEFAULT_IMAGE_ATTACKS)) == 3
    assert len(find_attacks("audio", DEFAULT_AUDIO_ATTACKS)) == 3
    assert len(find_attacks("video", DEFAULT_VIDEO_ATTACKS)) == 3


def test_attacks_are_found_once_in_the_order_given():
    assert [attack.name for attack in find_attacks("audio", ["noise-10", "mp3-128", "noise-10"])] == ["noise-10", "mp3-128"]


def test_an_unknown_attack_is_refused_with_the_closest_names():
    with pytest.raises(CohortError, match=r"^unknown image attack 'jpg-90'; closest: jpeg-90, [^\n]*$"):
        find_attacks("image", ["jpg-90"])
    with pytest.raises(CohortError, match=r"^unknown audio attack '###'; families: mp3, aac, [^\n]*$"):
        find_attacks("audio", ["###"])


def test_there_are_no_attacks_on_text():
    with pytest.raises(CohortError, match="no attacks on 'text'; known: image, audio, video, image-file"):
        attacks_of("text")


def test_attacks_without_a_strength_belong_to_no_grid():
    gridded = {attack.name for grid in families_of("image").values() for attack in grid}
    assert attacks_of("image").keys() - gridded == {
        "hflip", "grayscale", "combined-omniseal", "combined-upload", "combined-repost", "combined-screenshot",
        "combined-thumbnail",
    }  # fmt: skip


@pytest.mark.parametrize(("media_type", "name"), EVERY_ATTACK)
def test_another_seed_draws_otherwise_and_zero_is_the_default(media_type, name, twice, media):
    attack = attacks_of(media_type)[name]
    other = attack.with_seed(5)
    if other is attack:
        return
    assert (attack.seed, other.seed, other.name) == (0, 5, attack.name)
    applied = other.apply(media[media_type])
    assert applied.data != twice(media_type, name)[0].data
    assert other.with_seed(0).apply(media[media_type]) == twice(media_type, name)[0]


def test_what_stress_sets_draw_can_be_seeded():
    seeded = {name for name, attack in attacks_of("image").items() if attack.with_seed(5) is not attack}
    assert seeded == {
        "crop-somewhere-90", "crop-somewhere-75", "alpha-patch-25", "alpha-patch-50", "alpha-patch-75", "combined-repost",
    }  # fmt: skip


SMALL = {
    "image": [(1, 1), (1, 7), (2, 2), (17, 33), (8, 200)],
    "audio": [1, 2, 20, 511, 1601],
    "video": [(1, 66, 66), (2, 2, 2), (3, 16, 18), (2, 15, 16)],
    "image-file": [(1, 1), (8, 200)],
}


def small_medium(media_type, shape):
    random = np.random.default_rng(2)
    if media_type == "audio":
        return (0.1 * random.standard_normal(shape)).astype(np.float32)
    if media_type in ("image", "image-file"):
        grey = np.repeat(random.integers(0, 256, (*shape, 1), dtype=np.uint8), 3, axis=2)
        if media_type == "image":
            return grey
        data = encode_png(grey)
        return ImageFile(data, decode_image(data))
    return Clip(random.integers(0, 256, (*shape, 3), dtype=np.uint8), Fraction(30))


@pytest.mark.parametrize(("media_type", "shape"), [(kind, shape) for kind, shapes in SMALL.items() for shape in shapes])
def test_a_small_medium_is_attacked_or_refused_in_one_line(media_type, shape):
    medium = small_medium(media_type, shape)
    attacked = 0
    for attack in attacks_of(media_type).values():
        try:
            assert isinstance(attack.apply(medium), Attacked)
            attacked += 1
        except CohortError as refused:
            assert "\n" not in str(refused)  # noqa: PT017
    assert attacked
