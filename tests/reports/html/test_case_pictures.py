"""One case: whatever its files are, there are pictures or a line that says why not, and no folder in it."""

import hashlib
import os

import numpy as np
import pytest

from pytest_benchbench.reports.html import case_pictures as module
from pytest_benchbench.reports.html.case_pictures import draw_case
from pytest_benchbench.reports.html.figure import File, PictureRequest


def request(artifact, media_type="image", reference=None, shares=(), room=50_000):
    return PictureRequest(media_type, artifact, reference, shares, room)


def test_the_first_place_with_the_very_bytes_is_taken(media, picture):
    file = media.png(picture(), "cat.png")
    media.png(picture(shift=9), "other.png")
    paths = tuple(bytes(media.folder / name) for name in ("absent.png", "other.png", "cat.png"))
    drawn = draw_case(request(File("cat.png", file.sha256, paths)))
    assert drawn.note is None
    assert drawn.figures == draw_case(request(file)).figures


def test_other_bytes_are_never_shown(media, picture):
    file = media.png(picture())
    media.png(picture(shift=1))
    drawn = draw_case(request(file))
    assert not drawn.figures
    assert drawn.note == "no picture: cat.png is not the file that was measured: its SHA-256 is another"


def test_the_reference_is_verified_too(media, picture):
    artifact, reference = media.png(picture()), media.png(picture(shift=1), "reference.png")
    media.png(picture(shift=2), "reference.png")
    (figure,) = draw_case(request(artifact, reference=reference)).figures
    assert figure.caption.endswith("No difference: reference.png is not the file that was measured: its SHA-256 is another.")


def test_a_reference_that_is_not_at_hand_leaves_the_thumbnail(media, picture):
    artifact = media.png(picture())
    (figure,) = draw_case(request(artifact, reference=File("gone.png", "0" * 64, ()))).figures
    assert figure.caption.endswith("No difference: file not at hand (gone.png).")


def test_a_missing_file_is_said(media):
    gone = File("gone.png", "0" * 64, (bytes(media.folder / "gone.png"), b"/no/such\0place"))
    assert draw_case(request(gone)).note == "no picture: file not at hand (gone.png)"


HOSTILE = {
    "empty": b"",
    "text": b"this is no picture",
    "truncated": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\1\0\x08\x02\0\0\0",
    "zip": b"PK\3\4" + bytes(100),
    "riff": b"RIFF\xff\xff\xff\xffWAVEfmt ",
    "mp4": b"\0\0\0\x18ftypisom\0\0\0\0isomiso2" + b"\xff" * 64,
}


@pytest.mark.parametrize("media_type", ["image", "audio", "video", "hologram"])
@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_what_cannot_be_decoded_is_said_in_one_line_without_its_folder(media, data, media_type):
    drawn = draw_case(request(media.put("x.bin", data), media_type))
    assert not drawn.figures
    assert drawn.note.startswith("no picture: x.bin cannot be decoded: ")
    assert str(media.folder) not in drawn.note
    assert drawn.note.isprintable()


def test_what_is_no_file_is_not_opened(media):
    os.mkfifo(media.folder / "pipe")
    (media.folder / "folder").mkdir()
    (media.folder / "link").symlink_to(media.folder / "folder")
    for name in ("pipe", "folder", "link"):
        note = draw_case(request(File(name, "0" * 64, (bytes(media.folder / name),)))).note
        assert note.startswith("no picture: file not at hand (")
        assert str(media.folder) not in note


def test_a_link_in_place_of_the_file_is_not_followed(media, picture):
    file = media.png(picture())
    (media.folder / "link.png").symlink_to(media.folder / "cat.png")
    note = draw_case(request(File("link.png", file.sha256, (bytes(media.folder / "link.png"),)))).note
    assert note.startswith("no picture: file not at hand (link.png")


def test_a_large_file_is_not_read(media, monkeypatch):
    monkeypatch.setattr(module, "MAX_FILE_BYTES", 1 << 20)
    with (media.folder / "huge.png").open("wb") as file:
        file.truncate((1 << 20) + 1)
    huge = File("huge.png", "0" * 64, (bytes(media.folder / "huge.png"),))
    assert draw_case(request(huge)).note == "no picture: huge.png is larger than the 1 MiB that a picture is drawn from"


def test_no_room_is_said(media, picture):
    drawn = draw_case(request(media.png(picture()), room=10))
    assert drawn.note == "no picture: the room that the page has for pictures is used up"


def test_a_name_that_is_no_text_is_found(media, picture):
    file = media.png(picture())
    strange = bytes(media.folder) + b"/\xff\xfe.png"
    os.rename(media.folder / "cat.png", strange)
    assert draw_case(request(File("?", file.sha256, (strange,)))).figures


def test_the_same_files_give_the_same_bytes(media, picture):
    artifact, reference = media.png(picture()), media.png(picture(shift=2), "r.png")
    asked = [request(artifact, reference=reference), request(media.wav(np.linspace(-1, 1, 9000)), "audio")]
    first, second = ([draw_case(each) for each in asked] for _ in range(2))
    assert first == second
    assert [len(drawn.figures) for drawn in first] == [2, 2]
    assert len({hashlib.sha256(figure.data_uri.encode()).digest() for drawn in first for figure in drawn.figures}) == 4
