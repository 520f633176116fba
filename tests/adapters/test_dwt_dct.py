"""What ``dwt-dct`` and ``dwt-dct-svd`` answer; ``test_bit_identity`` holds them against the reference."""

import numpy as np
import pytest

from pytest_benchbench import Detection, Image, Sample, Text
from pytest_benchbench.adapters.base import VERDICTS
from pytest_benchbench.adapters.dwt_dct import DwtDct, DwtDctEmbedder, read_blocks
from pytest_benchbench.adapters.dwt_dct_svd import DwtDctSvd, DwtDctSvdEmbedder
from pytest_benchbench.adapters.haar_frame import payload_bits
from pytest_benchbench.adapters.patterns import FLUX2, PATTERNS, SD1, SDXL, Pattern

SCHEMES = {"dwt-dct": (DwtDct, DwtDctEmbedder), "dwt-dct-svd": (DwtDctSvd, DwtDctSvdEmbedder)}


@pytest.fixture(params=SCHEMES)
def scheme(request):
    adapter, embedder = SCHEMES[request.param]
    return adapter(), embedder()


def ask(adapter, pixels: np.ndarray) -> Detection:
    pixels = pixels.copy()
    pixels.flags.writeable = False  # as decoded images are
    return adapter.detect(Sample("image", "0" * 64, b"", Image(pixels, {}, None)))


def texture(height: int = 264, width: int = 272) -> np.ndarray:
    """A carrier on which every mark survives: a bluish gray whose low band lies a sixth of a step up, with faint noise."""
    noise = np.random.default_rng(5).integers(-2, 3, (height, width, 1))
    return (np.array([100, 100, 144]) + noise).astype(np.uint8)


def with_wrong_bits(pattern: Pattern, count: int) -> Pattern:
    bits = tuple(1 - bit if index < count else bit for index, bit in enumerate(pattern.bits))
    return Pattern(f"nearly {pattern.name}", bits, pattern.threshold, source="turned over")


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_a_mark_is_detected_by_name(scheme, pattern):
    adapter, embedder = scheme
    detection = ask(adapter, embedder.embed_pixels(texture(), pattern))
    length = len(pattern.bits)
    assert detection == Detection(
        status="detected", label=pattern.name, message_bit_accuracy=1.0, reason=f"{length}/{length} bits of {pattern.name}"
    )


def test_an_unmarked_picture_is_not_detected(scheme):
    detection = ask(scheme[0], texture())
    assert detection.status == "not_detected"
    assert detection.label is None
    assert detection.message_bit_accuracy < 0.8
    assert " bits of " in detection.reason


@pytest.mark.parametrize(("pattern", "forgiven"), [(SDXL, 4), (FLUX2, 4), (SD1, 10)], ids=["sdxl", "flux2", "sd1"])
def test_the_rule_ends_where_it_says(scheme, pattern, forgiven):
    adapter, embedder = scheme
    at_threshold = ask(adapter, embedder.embed_pixels(texture(), with_wrong_bits(pattern, forgiven)))
    assert (at_threshold.status, at_threshold.label) == ("detected", pattern.name)

    below = ask(adapter, embedder.embed_pixels(texture(), with_wrong_bits(pattern, forgiven + 1)))
    length = len(pattern.bits)
    assert (below.status, below.reason) == ("not_detected", f"{length - forgiven - 1}/{length} bits of {pattern.name}")


def test_a_message_without_its_leading_zeros_is_another_message(scheme):
    # FLUX's own code spells the number by bin(x)[2:]; docs/adapters.md says what follows
    adapter, embedder = scheme
    shortened = Pattern("flux, 46 bits", FLUX2.bits[2:], threshold=46, source="bin() drops leading zeros")
    assert ask(adapter, embedder.embed_pixels(texture(), shortened)).status == "not_detected"


def test_each_scheme_is_blind_to_the_other():
    assert ask(DwtDct(), DwtDctSvdEmbedder().embed_pixels(texture(), SDXL)).status == "not_detected"
    assert ask(DwtDctSvd(), DwtDctEmbedder().embed_pixels(texture(), SDXL)).status == "not_detected"


@pytest.mark.parametrize("level", [0, 1, 127, 128, 255])
def test_gray_reads_as_nothing_but_zeros(level):
    gray = np.full((256, 256, 3), level, dtype=np.uint8)
    blocks = read_blocks(gray)
    equal = {name: pattern.equal_bits(payload_bits(blocks, len(pattern.bits))) for name, pattern in PATTERNS.items()}
    assert equal == {"sdxl": 21, "flux2": 20, "sd1": 68}
    assert ask(DwtDct(), gray).reason == "68/136 bits of sd1"


@pytest.mark.parametrize(
    ("height", "width"),
    [(1, 1), (255, 257), (1, 65_536), (65_536, 1), (3, 21_846), (7, 10_000), (10_000, 7)],
    ids=lambda side: str(side),
)
def test_a_picture_without_room_has_an_answer_that_is_no_verdict(scheme, height, width):
    detection = ask(scheme[0], np.full((height, width, 3), 90, dtype=np.uint8))
    assert detection.status == "too-small"
    assert detection.status not in VERDICTS
    assert detection.label is None
    assert detection.message_bit_accuracy is None
    assert detection.reason == f"65,536 pixels and sides of 8 or more are needed, the image is {width}x{height}"


@pytest.mark.parametrize(("height", "width"), [(256, 256), (8, 8192), (8192, 8), (15, 4370), (257, 256)])
def test_the_smallest_pictures_are_read(scheme, height, width):
    adapter, embedder = scheme
    assert ask(adapter, embedder.embed_pixels(texture(height, width), SDXL)).label == "sdxl"


def test_the_mark_does_not_change_the_given_picture(scheme):
    pixels = texture()
    before = pixels.copy()
    scheme[1].embed_pixels(pixels, SDXL)
    np.testing.assert_array_equal(pixels, before)


def test_what_is_no_image_is_refused(scheme):
    with pytest.raises(TypeError, match="expected a decoded image, not Text"):
        scheme[0].detect(Sample("text", "0" * 64, b"", Text("a", {})))


def test_the_description_names_rule_and_version(scheme):
    description = scheme[0].describe()
    assert "44 or more of 48" in description.rule
    assert "126 or more of 136" in description.rule
    assert "invisible-watermark 0.2.0" in description.version
    assert description.weights == ()
