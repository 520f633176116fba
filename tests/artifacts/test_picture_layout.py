"""The conversion to upright RGB against the formulas of the standards."""

import av
import numpy as np
import pytest
from av.video.frame import VideoFrame
from av.video.reformatter import Interpolation
from hypothesis import given, strategies as st

from pytest_benchbench.artifacts.picture_layout import PictureConverter, PictureLayout
from pytest_benchbench.artifacts.video import decode_video
from pytest_benchbench.artifacts.video_structure import BrokenVideoError

KR_KB = {1: (0.2126, 0.0722), 4: (0.30, 0.11), 5: (0.299, 0.114), 6: (0.299, 0.114), 7: (0.212, 0.087), 9: (0.2627, 0.0593)}
"""ITU-T H.273, table 4: luma coefficients of red and blue."""

LIMITED, FULL = 1, 2

STATED = sum(Interpolation[name] for name in ("BICUBIC", "FULL_CHR_H_INT", "FULL_CHR_H_INP", "ACCURATE_RND", "BITEXACT"))


def solid(pixel_format, *values, matrix=2, samples=0, size=(32, 16)):
    """A frame in which every sample of a plane has the same value."""
    frame = VideoFrame(*size, pixel_format)
    depth = np.uint8 if max(component.bits for component in frame.format.components) <= 8 else np.uint16
    for plane, value in zip(frame.planes, values, strict=True):
        plane.update(np.full(plane.buffer_size // np.dtype(depth).itemsize, value, depth).tobytes())
    frame.colorspace, frame.color_range = matrix, samples
    return frame


def convert(frame):
    """The one colour of a solid frame, as floats in [0, 1] before anything is clipped."""
    layout = PictureLayout.of(frame)
    picture = PictureConverter(layout).picture(frame)
    np.testing.assert_array_equal(picture, np.broadcast_to(picture[0, 0], picture.shape))
    return picture[0, 0] / layout.white


def formula(y, cb, cr, matrix, bits, *, full):
    step = 2 ** (bits - 8)
    luma, chroma = (2**bits - 1, 2**bits - 1) if full else (219 * step, 224 * step)
    y, cb, cr = (y - (0 if full else 16 * step)) / luma, (cb - 128 * step) / chroma, (cr - 128 * step) / chroma
    kr, kb = KR_KB[matrix]
    red, blue = y + 2 * (1 - kr) * cr, y + 2 * (1 - kb) * cb
    return np.clip([red, (y - kr * red - kb * blue) / (1 - kr - kb), blue], 0, 1)


@pytest.mark.parametrize("pixel_format", ["yuv444p", "yuv420p", "yuv422p10le", "yuv420p12le"])
@given(data=st.data(), matrix=st.sampled_from(sorted(KR_KB)), full=st.booleans())
def test_yuv_becomes_rgb_by_its_tags(pixel_format, data, matrix, full):
    bits = VideoFrame(16, 8, pixel_format).format.components[0].bits
    y, cb, cr = (data.draw(st.integers(16 << bits - 8, 235 << bits - 8)) for _ in range(3))
    frame = solid(pixel_format, y, cb, cr, matrix=matrix, samples=FULL if full else LIMITED)
    wanted = formula(y, cb, cr, matrix, bits, full=full)
    tolerance = 0.52 / 255 if bits == 8 else 6 / 65535
    np.testing.assert_allclose(np.clip(convert(frame), 0, 1), wanted, atol=tolerance)


def test_untagged_samples_are_bt601_of_limited_range():
    untagged, tagged = solid("yuv444p", 100, 90, 160), solid("yuv444p", 100, 90, 160, matrix=5, samples=LIMITED)
    np.testing.assert_array_equal(convert(untagged), convert(tagged))
    assert PictureLayout.of(untagged).untagged == ("color_matrix", "color_range")
    assert PictureLayout.of(tagged).untagged == ()


@pytest.mark.parametrize("bits", [9, 10, 12, 16])
def test_white_is_one_and_black_is_zero_at_every_depth(bits):
    step, top = 2 ** (bits - 8), 2**bits - 1
    limited = [convert(solid(f"yuv444p{bits}le", y * step, 128 * step, 128 * step, samples=LIMITED)) for y in (16, 235)]
    np.testing.assert_allclose(limited, [[0] * 3, [1] * 3], atol=1e-4)
    full = [convert(solid(f"yuv444p{bits}le", y, 128 * step, 128 * step, samples=FULL)) for y in (0, top)]
    np.testing.assert_allclose(full, [[0] * 3, [1] * 3], atol=1e-4)
    for kind in ("gray", "gbrp"):
        planes = 3 if kind == "gbrp" else 1
        ends = [convert(solid(f"{kind}{bits}le", *[value] * planes)) for value in (0, top)]
        np.testing.assert_array_equal(ends, [[0] * 3, [1] * 3])


def test_deep_samples_are_recorded_and_not_comparable(encode_video):
    frames = [solid("yuv420p10le", 940, 512, 512, samples=LIMITED, size=(112, 80))] * 3
    video = decode_video(encode_video(frames, pixel_format="yuv420p10le"))
    assert (video.decoding["rule"], video.decoding["bit_depth"]) == ("yuv+rgb48", 10)
    assert video.incomparable == "10-bit samples"
    np.testing.assert_array_equal(video.array(), 1)
    np.testing.assert_array_equal(next(video.pictures()), 255)


def test_gray_is_the_value_three_times_whatever_its_range():
    for samples in (0, LIMITED, FULL):
        np.testing.assert_array_equal(convert(solid("gray", 37, samples=samples)) * 255, [37, 37, 37])


def test_shallow_samples_are_spread_and_not_comparable(encode_video):
    frame = solid("rgb555le", 0xFF, size=(32, 16))
    video = decode_video(encode_video([frame, frame], "rawvideo", "avi", "rgb555le"))
    assert video.decoding["rule"] == "rgb+scaled"
    assert video.incomparable == "5-bit samples"


@pytest.mark.parametrize("alpha", ["opaque", "dropped"])
def test_alpha_is_dropped_and_the_colours_stay(encode_video, alpha):
    pixels = np.random.default_rng(3).integers(0, 256, (3, 80, 112, 4), dtype=np.uint8)
    pixels[..., 3] = 255
    if alpha == "dropped":
        pixels[2, 5, 7, 3] = 254
    video = decode_video(encode_video([VideoFrame.from_ndarray(one, "rgba") for one in pixels], pixel_format="bgra"))
    assert (video.decoding["rule"], video.decoding["alpha"]) == ("rgb+alpha-dropped", alpha)
    assert video.incomparable == (None if alpha == "opaque" else "transparency was dropped")
    np.testing.assert_array_equal(np.stack(list(video.pictures())), pixels[..., :3])


@pytest.mark.parametrize("pixel_format", ["gbrpf32le", "grayf32le", "xyz12le", "bayer_rggb8"])
def test_samples_without_an_agreed_way_are_refused(pixel_format):
    with pytest.raises(BrokenVideoError, match=f"^samples of pixel format {pixel_format} have no agreed way to RGB$"):
        PictureLayout.of(VideoFrame(16, 8, pixel_format))


def test_deep_pictures_too_low_for_ffmpeg_to_convert_are_refused():
    flat = solid("yuv420p10le", 64, 64, 64, samples=LIMITED, size=(32, 8))
    wrong = flat.reformat(format="rgb48le", interpolation=STATED).to_ndarray()
    assert np.ptp(wrong[..., 1]) > 10_000  # of one colour: when this fails, the refusal can go
    with pytest.raises(BrokenVideoError, match="lower than 16 rows"):
        PictureLayout.of(flat)


def test_a_matrix_without_an_agreed_way_is_refused():
    with pytest.raises(BrokenVideoError, match=r"^colour matrix 8 "):
        PictureLayout.of(solid("yuv444p", 1, 2, 3, matrix=8))


def turned(pixels, a, b, c, d):
    """The picture that a display matrix shows: the sample at (x, y) goes to (ax + cy, bx + dy), moved to begin at 0."""
    rows, columns = np.mgrid[: pixels.shape[0], : pixels.shape[1]]
    x, y = a * columns + c * rows, b * columns + d * rows
    shown = np.zeros((np.ptp(y) + 1, np.ptp(x) + 1, 3), np.uint8)
    shown[y - y.min(), x - x.min()] = pixels
    return shown


SIGNS = [
    (sign_x * (1 - sideways), sign_y * sideways, sign_x * sideways, sign_y * (1 - sideways))
    for sideways in (0, 1)
    for sign_x in (1, -1)
    for sign_y in (1, -1)
]


@pytest.mark.parametrize("signs", SIGNS)
def test_a_display_matrix_of_quarter_turns_and_mirrors_is_applied(encode_video, clip, signs):
    a, b, c, d = (sign * 65536 for sign in signs)

    def show(stream):
        stream.set_display_matrix([a, b, 0, c, d, 0, 0, 0, 1 << 30])

    video = decode_video(encode_video(clip(2), "qtrle", "mov", "rgb24", prepare=show))
    for seen, stored in zip(video.pictures(), clip(2), strict=True):
        np.testing.assert_array_equal(seen, turned(stored, *signs))
    assert video.shape[1:3] == turned(clip(1)[0], *signs).shape[:2]
    assert video.decoding["size"] == [video.shape[2], video.shape[1]]
    assert ("display_matrix" in video.decoding) == (signs != (1, 0, 0, 1))
    assert video.incomparable is None


def test_the_turn_has_the_direction_that_ffmpeg_gives_it(encode_video, clip):
    video = decode_video(
        encode_video(clip(2), "qtrle", "mov", "rgb24", prepare=lambda stream: stream.set_display_rotation(-90))
    )
    assert video.decoding["display_matrix"] == "rotated by 90 degrees clockwise"
    np.testing.assert_array_equal(next(video.pictures()), np.rot90(clip(1)[0], -1))


def test_any_other_angle_is_recorded_and_not_applied(encode_video, clip):
    video = decode_video(
        encode_video(clip(2), "qtrle", "mov", "rgb24", prepare=lambda stream: stream.set_display_rotation(45))
    )
    np.testing.assert_array_equal(next(video.pictures()), clip(1)[0])
    assert video.decoding["rule"] == "rgb"
    assert video.decoding["display_matrix"].startswith("not applied: [0.707")
    assert video.incomparable == "the orientation is no multiple of 90 degrees and was not applied"


def test_the_conversion_is_the_one_that_is_stated():
    noise = np.random.default_rng(4)
    frame = av.VideoFrame(64, 48, "yuv420p")
    for plane in frame.planes:
        plane.update(noise.integers(0, 256, plane.buffer_size, dtype=np.uint8).tobytes())
    wanted = frame.reformat(format="rgb24", src_colorspace=5, src_color_range=1, interpolation=STATED).to_ndarray()
    np.testing.assert_array_equal(PictureConverter(PictureLayout.of(frame)).picture(frame), wanted)


def test_a_picture_stored_otherwise_is_refused():
    converter = PictureConverter(PictureLayout.of(solid("yuv444p", 1, 2, 3)))
    converter.picture(solid("yuv444p", 1, 2, 3))
    with pytest.raises(BrokenVideoError, match=r"change within the video$"):
        converter.picture(solid("yuv444p", 1, 2, 3, matrix=1))


@pytest.mark.parametrize("chroma", ["420", "422", "444"])
def test_deep_pictures_look_like_their_twins_of_8_bits(chroma):
    noise = np.random.default_rng(6)
    shallow, deep = VideoFrame(64, 48, f"yuv{chroma}p"), VideoFrame(64, 48, f"yuv{chroma}p10le")
    for plane, twin in zip(shallow.planes, deep.planes, strict=True):
        samples = noise.integers(16, 236, (plane.height, plane.width), dtype=np.uint8)
        padded = np.zeros((plane.height, plane.line_size), np.uint8)
        padded[:, : plane.width] = samples
        plane.update(padded.tobytes())
        padded = np.zeros((twin.height, twin.line_size // 2), np.uint16)
        padded[:, : twin.width] = samples.astype(np.uint16) << 2
        twin.update(padded.tobytes())
    pictures = []
    for frame in (shallow, deep):
        layout = PictureLayout.of(frame)
        pictures.append(np.minimum(PictureConverter(layout).picture(frame) / layout.white, 1))
    np.testing.assert_allclose(*pictures, atol=1.5 / 255)
