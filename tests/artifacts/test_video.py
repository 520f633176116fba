"""Videos through real encoders: what is decoded, what is said about it, what it may cost."""

import io
import struct
import subprocess
import sys
from fractions import Fraction

import av
import numpy as np
import pytest

from pytest_benchbench.artifacts import video as video_module
from pytest_benchbench.artifacts.media import UndecodableArtifactError
from pytest_benchbench.artifacts.video import decode_video


def psnr(decoded, frames):
    return 10 * np.log10(1 / np.mean((decoded - np.stack(frames) / 255.0) ** 2))


@pytest.mark.parametrize(
    ("name", "codec", "container"),
    [
        ("h264-mp4", "h264", "mp4"),
        ("h264-matroska", "h264", "matroska"),
        ("h264-mpegts", "h264", "mpegts"),
        ("h265-mp4", "hevc", "mp4"),
        ("vp8-webm", "vp8", "matroska"),
        ("vp9-webm", "vp9", "matroska"),
        ("av1-mp4", "av1", "mp4"),
        ("mjpeg-avi", "mjpeg", "avi"),
        ("mpeg4-avi", "mpeg4", "avi"),
    ],
)
def test_every_frame_of_a_codec_comes_back_in_its_place(videos, clip, name, codec, container):
    video = decode_video(videos[name])
    assert video.shape == (12, 80, 112, 3)
    assert video.rate == 25
    assert (video.decoding["codec"], video.decoding["format"], video.decoding["frames"]) == (codec, container, 12)
    assert video.incomparable is None
    decoded = video.array()
    distances = [[np.abs(seen - frame / 255.0).mean() for frame in clip()] for seen in decoded]
    assert np.argmin(distances, axis=1).tolist() == list(range(12))
    assert psnr(decoded, clip()) > 25


def test_rgb_without_loss_comes_back_exactly(encode_video, clip):
    video = decode_video(encode_video(clip()))
    assert video.decoding["rule"] == "rgb"
    np.testing.assert_array_equal(np.stack(list(video.pictures())), np.stack(clip()))
    np.testing.assert_array_equal(video.array(), (np.stack(clip()) / np.float32(255)).astype(np.float32))


def test_frames_are_fresh_floats_from_the_first_one_at_each_call(videos):
    video = decode_video(videos["h264-mp4"])
    first, again = list(video.frames()), list(video.frames())
    for frame, same in zip(first, again, strict=True):
        assert (frame.dtype, frame.shape, frame.flags.c_contiguous) == (np.float32, (80, 112, 3), True)
        assert 0 <= frame.min() <= frame.max() <= 1
        np.testing.assert_array_equal(frame, same)
        assert frame is not same
    first[0][:] = 0  # the caller's own
    np.testing.assert_array_equal(next(video.frames()), again[0])


def test_two_passes_at_a_time_do_not_disturb_each_other(videos):
    video = decode_video(videos["h265-mp4"])
    for left, right in zip(video.frames(), video.frames(), strict=True):
        np.testing.assert_array_equal(left, right)


def test_the_whole_array_is_read_only_and_the_same_as_the_frames(videos):
    video = decode_video(videos["vp9-webm"])
    array = video.array()
    assert (array.dtype, array.shape) == (np.float32, video.shape)
    np.testing.assert_array_equal(array, np.stack(list(video.frames())))
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 0


def test_a_held_video_gives_the_same_frames_without_decoding(videos):
    video = decode_video(videos["vp9-webm"])
    held = video.held()
    assert held.array() is held.array()
    assert held.held() is held
    assert held.nbytes - video.nbytes == 4 * 12 * 80 * 112 * 3
    np.testing.assert_array_equal(np.stack(list(held.frames())), video.array())
    np.testing.assert_array_equal(np.stack(list(held.pictures())), np.stack(list(video.pictures())))
    assert held.decode_seconds == 0
    next(held.frames())[:] = 0
    np.testing.assert_array_equal(held.array(), video.array())


def test_only_decoding_counts_as_decoding(videos, monkeypatch):
    now = iter(range(10**6))
    video = decode_video(videos["h264-mp4"])
    monkeypatch.setattr(video_module.time, "perf_counter", lambda: next(now))
    used = 0
    for _ in video.frames():
        before = next(now)
        used += 1000
        for _ in range(1000):  # what a detector does with a frame
            next(now)
        assert next(now) - before == 1001
    assert 24 <= video.decode_seconds < 60  # ticks: two readings a frame, whatever the detector did between


def test_making_the_array_counts_as_decoding(videos):
    video = decode_video(videos["h264-mp4"])
    assert video.decode_seconds == 0
    video.array()
    assert video.decode_seconds > 0


def test_a_rate_is_a_fraction(encode_video, clip):
    for kind in (("libx264", "mp4", "yuv420p"), ("libvpx-vp9", "webm", "yuv420p"), ("mjpeg", "avi", "yuvj420p")):
        video = decode_video(encode_video(clip(), *kind, rate=Fraction(30000, 1001)))
        assert video.rate == Fraction(30000, 1001)
        assert video.decoding["rate"] == "30000/1001"
        assert video.decoding["variable_frame_rate"] is False


@pytest.mark.parametrize("kind", [("libx264", "mp4", "yuv420p"), ("ffv1", "matroska", "bgr0"), ("mjpeg", "avi", "yuvj420p")])
def test_a_single_frame_is_a_video(encode_video, clip, kind):
    video = decode_video(encode_video(clip(1), *kind))
    assert video.shape == (1, 80, 112, 3)
    assert not video.is_variable


@pytest.mark.parametrize("kind", [("libx264", "mp4", "yuv420p"), ("ffv1", "matroska", "bgr0")])
def test_a_variable_frame_rate_neither_doubles_nor_drops_a_frame(encode_video, clip, kind):
    ticks = [0, 1, 2, 7, 8, 20, 21, 22, 23, 24, 30, 31]
    video = decode_video(encode_video(clip(), *kind, ticks=ticks))
    assert video.shape[0] == 12
    assert video.decoding["variable_frame_rate"] is True
    np.testing.assert_allclose(video.seconds, np.array(ticks) / 25, atol=1e-3)
    assert len(list(video.frames())) == 12


def test_of_an_edit_list_the_shown_frames_are_decoded(encode_video, clip):
    video = decode_video(encode_video(clip(), "qtrle", "mov", "rgb24", ticks=list(range(-4, 8))))
    np.testing.assert_array_equal(np.stack(list(video.pictures())), np.stack(clip()[4:]))
    assert (video.rate, video.seconds[0]) == (25, 0)
    data = encode_video(clip(), "qtrle", "mov", "rgb24")
    length = data.index(b"elst") + 12
    half = struct.pack(">I", struct.unpack_from(">I", data, length)[0] // 2)
    shorter = decode_video(data[:length] + half + data[length + 4 :])
    np.testing.assert_array_equal(np.stack(list(shorter.pictures())), np.stack(clip()[:6]))


def test_an_avi_has_a_rate_and_no_times(videos):
    assert decode_video(videos["mjpeg-avi"]).seconds is None


def test_the_shape_of_samples_is_recorded_and_not_applied(encode_video, clip):
    def wide(stream):
        stream.codec_context.sample_aspect_ratio = Fraction(4, 3)

    video = decode_video(encode_video(clip(), "libx264", "mp4", "yuv420p", prepare=wide))
    assert video.shape == (12, 80, 112, 3)
    assert video.decoding["sample_aspect_ratio"] == "4/3, not applied"
    assert "sample_aspect_ratio" not in decode_video(encode_video(clip())).decoding


def test_interlaced_pictures_are_shown_as_they_are_stored(encode_video, clip):
    options = {"x264-params": "interlaced=1", "qp": "0"}
    video = decode_video(encode_video(clip(height=96), "libx264", "mp4", "yuv444p", options=options))
    assert video.decoding["interlaced"] == "not deinterlaced"
    assert psnr(video.array(), clip(height=96)) > 35


def test_the_first_of_several_video_streams_is_decoded(clip):
    file = io.BytesIO()
    with av.open(file, "w", format="matroska") as container:
        streams = [container.add_stream("ffv1", rate=25) for _ in range(2)]
        for stream in streams:
            stream.height, stream.width, stream.pix_fmt = 80, 112, "bgr0"
        for stream, frames in zip(streams, (clip(), clip()[::-1]), strict=True):
            for index, pixels in enumerate(frames):
                frame = av.VideoFrame.from_ndarray(pixels, "rgb24")
                frame.pts = index
                container.mux(stream.encode(frame))
            container.mux(stream.encode(None))
    video = decode_video(file.getvalue())
    assert video.decoding["video_streams"] == 2
    np.testing.assert_array_equal(np.stack(list(video.pictures())), np.stack(clip()))


def test_what_is_not_whole_is_an_error_by_the_containers_own_count(videos):
    data = bytearray(videos["mjpeg-avi"])
    length = data.index(b"strh") + 8 + 32  # dwLength of AVISTREAMHEADER
    assert int.from_bytes(data[length : length + 4], "little") == 12
    data[length : length + 4] = (14).to_bytes(4, "little")
    with pytest.raises(UndecodableArtifactError, match=r"^the container lists 14 coded pictures, but 12 could be read$"):
        decode_video(bytes(data))


def test_a_concealed_error_in_the_middle_is_an_error(videos):
    data = bytearray(videos["h264-mp4"])
    middle = data.index(b"mdat") + (data.index(b"moov") - data.index(b"mdat")) // 2
    data[middle : middle + 40] = bytes(40)
    with pytest.raises(UndecodableArtifactError, match=r"^FFmpeg cannot decode it: |^frame [0-9]+ is damaged$"):
        decode_video(bytes(data))


def test_pictures_that_change_their_size_are_refused(clip):
    file = io.BytesIO()
    with av.open(file, "w", format="avi") as container:
        stream = container.add_stream("mjpeg", rate=25)
        stream.height, stream.width, stream.pix_fmt = 80, 112, "yuvj420p"
        for index, pixels in enumerate((*clip(2), *clip(2, 64, 96))):
            encoder = av.CodecContext.create("mjpeg", "w")
            encoder.height, encoder.width = pixels.shape[:2]
            encoder.pix_fmt, encoder.time_base = "yuvj420p", Fraction(1, 25)
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(pixels), "rgb24").reformat(format="yuvj420p")
            frame.pts = index
            for packet in encoder.encode(frame):
                packet.stream = stream
                container.mux(packet)
    with pytest.raises(UndecodableArtifactError, match="change within the video"):
        decode_video(file.getvalue())


def test_too_many_pixels_or_frames_are_refused(videos):
    with pytest.raises(
        UndecodableArtifactError, match=r"^112x80 pixels are more than the limit of 8959 \(--bench-max-pixels\)$"
    ):
        decode_video(videos["h264-mp4"], max_pixels=8959)
    with pytest.raises(UndecodableArtifactError, match=r"^more than 11 frames$"):
        decode_video(videos["h264-mp4"], max_frames=11)
    assert decode_video(videos["h264-mp4"], max_pixels=8960, max_frames=12).shape[0] == 12


def test_an_array_beyond_the_bound_names_size_and_limit_and_frames_still_stream(videos, monkeypatch):
    video = decode_video(videos["h264-mp4"])
    monkeypatch.setattr(video_module, "MAX_ARRAY_BYTES", 4 * 12 * 80 * 112 * 3 - 1)
    with pytest.raises(
        UndecodableArtifactError, match=r"^12 frames of 112x80 take 0.0 GiB as one array, more than the limit"
    ):
        video.array()
    assert len(list(video.frames())) == 12


@pytest.mark.parametrize("data", [b"", b"#EXTM3U\nhttp://example.com/a.ts\n", b"ffconcat version 1.0\nfile /etc/passwd\n"])
def test_what_is_no_video_is_never_opened(data):
    with pytest.raises(UndecodableArtifactError, match=r"^the file is empty$|^not video in an accepted container"):
        decode_video(data)


def test_sound_alone_is_no_video(encode_with_ffmpeg, tone):
    with pytest.raises(UndecodableArtifactError, match=r"^there is no video stream in the file$"):
        decode_video(encode_with_ffmpeg(tone(16000, 16000), 16000, "aac", "mp4"))


def test_without_pyav_the_error_says_what_to_install(videos, monkeypatch):
    for name in [name for name in sys.modules if name == "av" or name.startswith("av.")]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UndecodableArtifactError, match=r"needs PyAV \(remedy: pip install 'pytest-benchbench\[video\]'\)$"):
        decode_video(videos["h264-mp4"])


def test_importing_decodes_nothing_and_imports_no_decoder():
    code = "import sys, pytest_benchbench.artifacts.video; sys.exit('av' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_ffmpeg_writes_nothing_to_the_terminal(videos, tmp_path):
    data = bytearray(videos["h264-mp4"])
    data[len(data) // 3 : len(data) // 3 + 30] = bytes(30)
    (tmp_path / "broken.mp4").write_bytes(data)
    code = """if True:
        from pytest_benchbench.artifacts.media import UndecodableArtifactError
        from pytest_benchbench.artifacts.video import decode_video
        try:
            decode_video(open('broken.mp4', 'rb').read())
        except UndecodableArtifactError:
            print('refused')
    """
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == ("refused\n", "")


def test_the_record_is_complete(encode_video, clip):
    video = decode_video(encode_video(clip(), "libx264", "mp4", "yuv420p"))
    decoder = f"FFmpeg {av.ffmpeg_version_info}"
    assert video.decoding == {
        "rule": "yuv",
        "format": "mp4",
        "codec": "h264",
        "pixel_format": "yuv420p",
        "size": [112, 80],
        "frames": 12,
        "rate": "25",
        "variable_frame_rate": False,
        "bit_depth": 8,
        "color_matrix": "bt601",
        "color_range": "limited",
        "untagged": ["color_matrix", "color_range"],
        "conversion": "swscale bicubic+full_chroma_int+full_chroma_inp+accurate_rnd+bitexact",
        "decoder": decoder,
    }


@pytest.mark.parametrize("container", ["mp4", "matroska", "avi", "mpegts"])
def test_sound_beside_the_pictures_changes_nothing(clip, container):
    file = io.BytesIO()
    with av.open(file, "w", format=container) as made:
        sound = made.add_stream("mp2", rate=48000, layout="mono")
        film = made.add_stream("libx264", rate=25, options={"threads": "1", "qp": "0"})
        film.height, film.width, film.pix_fmt = 80, 112, "yuv444p"
        for index, pixels in enumerate(clip()):
            picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(pixels), "rgb24").reformat(format="yuv444p")
            picture.pts = index
            made.mux(film.encode(picture))
            samples = av.AudioFrame.from_ndarray(np.zeros((1, 1920), np.int16), "s16", "mono")
            samples.sample_rate, samples.pts = 48000, 1920 * index
            made.mux(sound.encode(samples))
        made.mux(film.encode(None))
        made.mux(sound.encode(None))
    video = decode_video(file.getvalue())
    assert "video_streams" not in video.decoding
    assert video.shape == (12, 80, 112, 3)
    assert psnr(video.array(), clip()) > 40
