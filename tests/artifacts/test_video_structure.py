"""What containers say about themselves, in real files and in ones that were made to lie."""

import struct

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.artifacts import video_structure
from pytest_benchbench.artifacts.containers import identify_video
from pytest_benchbench.artifacts.video import decode_video
from pytest_benchbench.artifacts.video_structure import BrokenVideoError, listed_pictures


def listed(data):
    return listed_pictures(data, identify_video(data))


def patched(data, box, offset, value):
    """An MP4 with another 32-bit number in the first box of a kind, ``offset`` bytes into its content."""
    begin = data.index(box) + 4 + offset
    return data[:begin] + struct.pack(">I", value) + data[begin + 4 :]


def test_matroska_lists_its_blocks_and_the_others_leave_it_to_ffmpeg(videos):
    counts = {name: listed(data) for name, data in videos.items()}
    matroska = {name for name in videos if name.endswith(("matroska", "webm"))}
    assert {name for name, count in counts.items() if count is not None} == matroska
    assert {counts[name] for name in matroska} == {12}


@given(data=st.data())
def test_a_file_that_breaks_off_is_broken(whole_video, data):
    container = identify_video(whole_video)
    cut = data.draw(st.integers(12, len(whole_video) - 1))
    if container == "mpegts":
        cut -= cut % 188 == 0
    with pytest.raises(BrokenVideoError):
        listed_pictures(whole_video[:cut], container)


@pytest.mark.parametrize(
    ("box", "offset", "value", "message"),
    [
        (b"stsz", 8, 2**31, "a track declares 2147483648 samples, more than the file can hold"),
        (b"stts", 8, 10**6, "the box stts times more than the 12 samples of its track"),
        (b"ctts", 8, 2**32 - 1, "the box ctts times more than the 12 samples of its track"),
    ],
)
def test_tables_that_would_fill_the_memory_are_refused(videos, box, offset, value, message):
    with pytest.raises(BrokenVideoError, match=f"^{message}$"):
        listed(patched(videos["h264-mp4"], box, offset, value))


def test_a_fragmented_file_does_not_say_how_long_it_is(encode_video, clip):
    data = encode_video(clip(), "libx264", "mp4", "yuv420p", container_options={"movflags": "frag_keyframe+empty_moov"})
    with pytest.raises(BrokenVideoError, match=r"^the file is fragmented and does not say how long it is; write it again"):
        listed(data)


def test_a_file_that_ends_between_its_boxes_is_truncated(videos):
    data = videos["h264-mp4"]
    with pytest.raises(BrokenVideoError, match=r"^the file is truncated: it has no box moov$"):
        listed(data[: data.index(b"moov") - 4])


def test_large_and_endless_boxes_are_read(videos):
    data = videos["h264-mp4"]
    free = b"\0\0\0\1free" + struct.pack(">Q", 24) + bytes(8)
    endless = b"\0\0\0\0free" + bytes(100)
    assert decode_video(data + free + endless).shape[0] == 12
    with pytest.raises(BrokenVideoError, match=r"^the file is truncated or damaged: a box free reaches beyond its end$"):
        listed(data + free[:-1])


def test_a_matroska_file_written_live_has_no_lengths(encode_video, clip):
    data = encode_video(clip(), container_options={"live": "1"})
    assert data.index(b"\x18\x53\x80\x67\x01\xff\xff\xff\xff\xff\xff\xff") > 0
    assert listed(data) == 12
    assert decode_video(data).shape[0] == 12


def test_an_avi_that_was_never_finished_is_broken(videos):
    data = videos["mjpeg-avi"]
    with pytest.raises(BrokenVideoError, match=r"inside a chunk RIFF$"):
        listed(data[:4] + bytes(4) + data[8:])


def test_a_transport_stream_out_of_step_is_broken(videos):
    data = videos["h264-mpegts"]
    with pytest.raises(BrokenVideoError, match=r"no row of whole transport packets$"):
        listed(data[: 188 * 5] + b"\0" + data[188 * 5 + 1 :])


def test_the_walks_have_an_end(videos, monkeypatch):
    monkeypatch.setattr("pytest_benchbench.artifacts.boxes.MAX_BOXES", 3)
    monkeypatch.setattr(video_structure, "MAX_ELEMENTS", 3)
    boxes = b"\0\0\0\x08free" * 4
    with pytest.raises(BrokenVideoError, match=r"^more than 3 boxes in one place$"):
        listed_pictures(boxes, "mp4")
    with pytest.raises(BrokenVideoError, match=r"^more than 3 chunks$"):
        listed_pictures(b"JUNK\0\0\0\0" * 4, "avi")
    with pytest.raises(BrokenVideoError, match=r"^more than 3 elements$"):
        listed(videos["ffv1-matroska"])


def test_laced_blocks_hold_several_pictures():
    def element(name, content):
        return name + bytes([0x80 | len(content)]) + content

    track = element(b"\xae", element(b"\xd7", b"\1") + element(b"\x83", b"\1"))
    sound = element(b"\xae", element(b"\xd7", b"\2") + element(b"\x83", b"\2"))
    blocks = [element(b"\xa3", b"\x81\0\0" + flags) for flags in (b"\x80x", b"\x82\2xyz")]
    blocks.append(element(b"\xa3", b"\x82\0\0\x80x"))
    segment = element(b"\x16\x54\xae\x6b", sound + track) + element(b"\x1f\x43\xb6\x75", b"".join(blocks))
    assert listed_pictures(element(b"\x1a\x45\xdf\xa3", b"") + element(b"\x18\x53\x80\x67", segment), "matroska") == 1 + 3


def test_noise_is_broken_quickly():
    noise = np.random.default_rng(0).integers(0, 256, 100_000, dtype=np.uint8).tobytes()
    for container in ("mp4", "matroska", "avi", "mpegts"):
        with pytest.raises(BrokenVideoError):
            listed_pictures(noise, container)
