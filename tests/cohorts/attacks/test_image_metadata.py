"""Metadata taken out and carried over, in real files; what becomes of C2PA manifests is asked beside the adapter's tests."""

import io

import numpy as np
import PIL.Image
import PIL.ImageCms
import pytest

from pytest_benchbench.artifacts.image import decode_image, embedded_metadata
from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.attacks.image_containers import parts_of, png_chunk
from pytest_benchbench.cohorts.attacks.image_metadata import EXTENSIONS, ImageFile, metadata_kinds
from pytest_benchbench.cohorts.attacks.registry import attacks_of

CONTAINERS = ("JPEG", "PNG", "WEBP")
XMP = b"<x:xmpmeta>words</x:xmpmeta>"

PROFILE = PIL.ImageCms.ImageCmsProfile(PIL.ImageCms.createProfile("sRGB")).tobytes()

PIXELS = np.asarray(
    PIL.Image.fromarray(np.random.default_rng(4).integers(0, 256, (6, 10, 3), dtype=np.uint8)).resize((64, 40))
)


def read(data):
    return ImageFile(data, decode_image(data))


def saved(pillow, *, orientation=None, picture=PIXELS, **options):
    exif = PIL.Image.Exif()
    exif[0x010F] = "A maker"
    if orientation:
        exif[0x0112] = orientation
    if pillow in ("JPEG", "WEBP"):
        options.setdefault("xmp", XMP)
    stream = io.BytesIO()
    PIL.Image.fromarray(picture).save(stream, pillow, exif=exif, **options)
    return read(stream.getvalue())


def stripped(file):
    return attacks_of("image-file")["metadata-stripped"].apply(file)


def intact(file):
    return attacks_of("image-file")["metadata-intact"].apply(file)


@pytest.mark.parametrize("pillow", CONTAINERS)
@pytest.mark.parametrize("orientation", [None, *range(1, 9)])
def test_stripping_leaves_every_pixel_as_it_was_shown(pillow, orientation):
    file = saved(pillow, orientation=orientation, icc_profile=PROFILE)
    attacked = stripped(file)
    assert np.array_equal(decode_image(attacked.data).pixels, file.image.pixels)
    turned = orientation in range(2, 9)
    assert attacked.parameters["kept"] == (["orientation"] if turned else []) + ["colour profile"]
    left = {part.kind for part in parts_of(attacked.data, pillow) if part.is_metadata}
    assert left == ({"exif"} if turned else set())
    assert b"A maker" not in attacked.data
    assert XMP not in attacked.data
    assert PIL.Image.open(io.BytesIO(attacked.data)).info["icc_profile"] == PROFILE


@pytest.mark.parametrize("pillow", CONTAINERS)
def test_stripping_says_what_it_removed(pillow):
    file = saved(pillow)
    attacked = stripped(file)
    assert attacked.parameters["removed"] == metadata_kinds(file.data, pillow)
    assert set(attacked.parameters["removed"]) == ({"exif"} if pillow == "PNG" else {"exif", "xmp"})
    assert attacked.extension == EXTENSIONS[pillow]
    assert stripped(read(attacked.data)).data == attacked.data
    assert metadata_kinds(attacked.data, pillow) == {}


@pytest.mark.parametrize("pillow", ["TIFF", "AVIF", "GIF"])
def test_a_file_that_is_not_taken_apart_is_stripped_by_writing_its_pixels(pillow):
    file = saved(pillow)
    attacked = stripped(file)
    assert attacked.extension == ".png"
    assert np.array_equal(decode_image(attacked.data).pixels, file.image.pixels)
    assert metadata_kinds(attacked.data, "PNG") == {}
    assert metadata_kinds(file.data, pillow) is None


@pytest.mark.parametrize("pillow", ["TIFF", "AVIF", "GIF"])
def test_a_file_that_is_not_taken_apart_is_copied_to_keep_its_metadata(pillow):
    file = saved(pillow)
    attacked = intact(file)
    assert (attacked.data, attacked.extension) == (file.data, EXTENSIONS[pillow])
    assert "copied" in attacked.parameters["carried_over"]


@pytest.mark.parametrize("pillow", CONTAINERS)
@pytest.mark.parametrize("orientation", [None, *range(1, 9)])
def test_metadata_are_carried_over_byte_for_byte_and_the_picture_stays_upright(pillow, orientation):
    file = saved(pillow, orientation=orientation, icc_profile=PROFILE)
    attacked = intact(file)
    assert embedded_metadata(attacked.data) == embedded_metadata(file.data)
    assert embedded_metadata(attacked.data)[0]
    again = decode_image(attacked.data)
    assert again.pixels.shape == file.image.pixels.shape
    assert np.abs(again.pixels.astype(int) - file.image.pixels).mean() < 5
    assert PIL.Image.open(io.BytesIO(attacked.data)).info["icc_profile"] == PROFILE
    assert attacked.parameters["lost"] == {}


def test_a_jpeg_is_really_encoded_again():
    file = saved("JPEG", quality=60)
    attacked = intact(file)
    assert PIL.Image.open(io.BytesIO(attacked.data)).quantization != PIL.Image.open(io.BytesIO(file.data)).quantization


def test_a_gray_profile_is_not_carried_into_a_colour_picture():
    file = saved("JPEG", picture=PIXELS[:, :, 0], icc_profile=b"a profile for gray samples")
    attacked = intact(file)
    assert "icc_profile" not in PIL.Image.open(io.BytesIO(attacked.data)).info
    assert attacked.parameters["lost"].keys() == {"colour profile"}
    assert attacked.parameters["carried_over"].keys() == {"exif", "xmp"}


def test_chunks_that_belong_to_the_old_samples_are_lost_and_named():
    plain = saved("PNG").data
    file = read(plain[:33] + png_chunk(b"teST", b"x") + png_chunk(b"teSt", b"y") + plain[33:] + b"trailing")
    attacked = intact(file)
    assert attacked.parameters["lost"] == {"chunk 'teST'": 13, "trailing bytes": 8}
    assert attacked.parameters["carried_over"].keys() == {"chunk 'teSt'", "exif"}


def test_a_transparent_picture_keeps_its_transparency_when_it_is_stripped():
    rgba = np.dstack([PIXELS, np.arange(40 * 64, dtype=np.uint8).reshape(40, 64)])
    for pillow in ("PNG", "WEBP"):
        file = saved(pillow, picture=rgba, **({"lossless": True, "exact": True} if pillow == "WEBP" else {}))
        assert np.array_equal(np.asarray(PIL.Image.open(io.BytesIO(stripped(file).data))), rgba)


def test_an_animation_goes_on_after_stripping():
    stream = io.BytesIO()
    frames = [PIL.Image.fromarray(np.roll(PIXELS, step, axis=1)) for step in range(3)]
    exif = PIL.Image.Exif()
    exif[0x010F] = "A maker"
    for pillow in ("PNG", "WEBP"):
        stream = io.BytesIO()
        frames[0].save(stream, pillow, save_all=True, append_images=frames[1:], exif=exif)
        attacked = stripped(read(stream.getvalue()))
        assert PIL.Image.open(io.BytesIO(attacked.data)).n_frames == 3
        assert attacked.parameters["removed"].keys() == {"exif"}


def test_parts_that_cannot_be_told_apart_are_refused():
    whole = saved("WEBP")
    beyond = whole.data[:-1] if whole.data[-1] else whole.data[:-2]
    with pytest.raises(CohortError, match=r"^the parts of the WEBP file cannot be told apart$"):
        stripped(ImageFile(beyond, whole.image))
