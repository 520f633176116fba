import io
from fractions import Fraction

import av
import numpy as np
import PIL.Image
import pytest

from pytest_benchbench.cohorts.attacks.registry import attacks_of
from pytest_benchbench.cohorts.attacks.video_frames import frame_by_frame, with_noise_in_time
from pytest_benchbench.cohorts.attacks.video_geometry import cropped_centre, downscaled
from pytest_benchbench.cohorts.attacks.video_time import at_half_rate, averaged, dropped
from pytest_benchbench.cohorts.clips import Clip, VideoEncoder, encode_clip


def counting(frames):
    """Give a clip whose frame i is all of value 10 i."""
    values = (10 * np.arange(frames, dtype=np.uint8))[:, np.newaxis, np.newaxis, np.newaxis]
    return Clip(np.broadcast_to(values, (frames, 20, 30, 3)).copy(), Fraction(24))


def shades(clip):
    return clip.frames[:, 0, 0, 0].tolist()


@pytest.mark.parametrize(("name", "codec"), [("h264-23", "h264"), ("h265-28", "hevc"), ("vp9-31", "vp9")])
def test_a_file_is_of_the_codec_that_it_is_named_for(name, codec, media):
    attacked = attacks_of("video")[name].apply(media["video"])
    demuxer = {".mp4": "mov", ".webm": "matroska"}[attacked.extension]
    with av.open(io.BytesIO(attacked.data), format=demuxer) as file:
        assert file.streams.video[0].codec_context.codec.canonical_name == codec


@pytest.mark.parametrize("name", ["h264-40", "h265-40", "vp9-50"])
def test_the_record_suffices_to_write_the_file_again(name, media):
    attacked = attacks_of("video")[name].apply(media["video"])
    record = attacked.parameters["encoder"]
    encoder = VideoEncoder(record["codec"], record["options"], record["pixel_format"], record["container"])
    assert encode_clip(media["video"], encoder) == attacked.data


def test_h264_uses_one_thread():
    """Its bytes depend on how many there are."""
    encoders = [attack.writer.record for attack in attacks_of("video").values()]
    assert {record["options"]["threads"] for record in encoders} == {"1"}


def test_a_downscale_goes_to_even_sides_and_back_where_it_says_so(media):
    smaller, record = downscaled(75, restored=False)(media["video"])
    assert record["resized_to"] == [60, 52]
    assert smaller.frames.shape == (5, 52, 60, 3)
    expected = PIL.Image.fromarray(media["video"].frames[3]).resize((60, 52), PIL.Image.Resampling.LANCZOS)
    assert np.array_equal(smaller.frames[3], np.asarray(expected))
    assert downscaled(75, restored=True)(media["video"])[0].frames.shape == media["video"].frames.shape


def test_a_crop_keeps_the_centre(media):
    cropped, record = cropped_centre(50)(media["video"])
    assert record["box"] == [20, 17, 60, 51]
    assert np.array_equal(cropped.frames, media["video"].frames[:, 17:51, 20:60])


def test_half_the_rate_lasts_as_long():
    halved, record = at_half_rate(counting(6))
    assert shades(halved) == [0, 20, 40]
    assert halved.rate == 12
    assert record["rate"] == "12"


def test_half_the_rate_of_an_odd_number_keeps_the_first_and_the_last():
    assert shades(at_half_rate(counting(5))[0]) == [0, 20, 40]


@pytest.mark.parametrize(("percent", "left"), [(4, 20), (5, 19), (25, 15), (50, 10)])
def test_frames_are_dropped_at_the_same_rate(percent, left):
    shorter, record = dropped(percent, seed=0)(counting(20))
    assert len(shorter.frames) == left
    assert shorter.rate == 24
    assert shades(shorter) == [10 * index for index in range(20) if index not in record["dropped"]]


def test_a_higher_percentage_drops_the_same_frames_and_more():
    few, many = (dropped(percent, seed=0)(counting(20))[1]["dropped"] for percent in (10, 25))
    assert set(few) < set(many)
    assert dropped(25, seed=1)(counting(20))[1]["dropped"] != many


def test_the_last_frame_is_never_dropped():
    assert len(dropped(100, seed=0)(counting(3))[0].frames) == 1


def test_an_average_takes_fewer_frames_at_the_ends():
    assert shades(averaged(3)(counting(4))[0]) == [5, 10, 20, 25]
    assert shades(averaged(7)(counting(2))[0]) == [5, 5]


def test_an_image_attack_is_done_to_every_frame(media):
    attack = attacks_of("image")["jpeg-40"]
    attacked, record = frame_by_frame(attack)(media["video"])
    for before, after in zip(media["video"].frames, attacked.frames, strict=True):
        with PIL.Image.open(io.BytesIO(attack.apply(before).data)) as expected:
            assert np.array_equal(after, np.asarray(expected))
    assert record["each_frame"]["parameters"]["encoder"]["quality"] == 40


def test_noise_differs_from_frame_to_frame():
    still = Clip(np.full((2, 20, 30, 3), 128, np.uint8), Fraction(24))
    noisy, _ = with_noise_in_time(10, seed=0)(still)
    assert not np.array_equal(noisy.frames[0], noisy.frames[1])


def test_what_moves_in_place_or_time_is_never_compared():
    moved = {attack.family for attack in attacks_of("video").values() if not attack.keeps_positions}
    assert moved == {
        "downscale", "crop-centre", "halve-rate", "frame-drop", "frames-rotate", "frames-hflip", "frames-perspective",
        "combined",
    }  # fmt: skip
