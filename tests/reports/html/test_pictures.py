"""All failing cases: who is drawn, in how many bytes and how long, and what the page says of the others."""

import msgspec
import numpy as np
import pytest

from pytest_benchbench.reports.html import pictures as module
from pytest_benchbench.reports.html.artifact_places import ArtifactPlaces
from pytest_benchbench.reports.html.pictures import failing_pictures


@pytest.fixture
def beside(media):
    """Finds files beside their manifest, in the test's own folder."""
    return ArtifactPlaces({"a" * 64: [media.folder]})


def test_each_medium_has_its_pictures(media, picture, case, beside):
    pytest.importorskip("av")
    shares = {"bit_accuracy": {"series": [1.0, 0.5, 0.75]}}
    cases = [
        case(media.png(picture()), reference=media.png(picture(shift=3), "reference.png"), case_id="image"),
        case(media.wav(np.sin(np.arange(16_000) / 9)), "audio", case_id="sound"),
        case(media.video([picture(64, 48, shift) for shift in range(3)]), "video", case_id="clip", temporal=shares),
    ]
    drawn = failing_pictures(cases, beside)
    assert list(drawn) == [each.key for each in cases]
    assert [[figure.alt for figure in drawn[each.key].figures] for each in cases] == [
        ["Thumbnail of cat.png", drawn[cases[0].key].figures[1].alt],
        ["Waveform of voice.wav", "Spectrogram of voice.wav"],
        ["3 frames of clip.mkv", "Bits right in each frame of clip.mkv"],
    ]
    assert "times as large" in drawn[cases[0].key].figures[1].alt
    assert all(pictures.note is None for pictures in drawn.values())
    assert drawn == failing_pictures(cases, beside)


def test_all_pictures_together_fit_their_room(media, case, beside):
    rng = np.random.default_rng(0)
    files = [media.png(rng.integers(0, 256, (200, 300, 3), np.uint8), f"{number}.png") for number in range(6)]
    cases = [case(file, reference=files[0], case_id=file.name) for file in files]
    for room in (120_000, 40_000, 9_000, 0):
        drawn = failing_pictures(cases, beside, max_bytes=room)
        sizes = [sum(len(figure.data_uri) for figure in pictures.figures) for pictures in drawn.values()]
        assert sum(sizes) <= room
        if room == 40_000:
            assert min(sizes[1:]) > 3000  # the last case has as much as the first
    assert {pictures.note for pictures in drawn.values()} == {
        "no picture: the room that the page has for pictures is used up"
    }


def test_no_case_takes_more_than_its_bound(media, case, beside, monkeypatch):
    monkeypatch.setattr(module, "MAX_CASE_BYTES", 5_000)
    noise = media.png(np.random.default_rng(0).integers(0, 256, (200, 300, 3), np.uint8))
    (drawn,) = failing_pictures([case(noise)], beside).values()
    assert sum(len(figure.data_uri) for figure in drawn.figures) <= 5_000


def test_time_that_is_used_up_is_said(media, picture, case, beside):
    (drawn,) = failing_pictures([case(media.png(picture()))], beside, max_seconds=0).values()
    assert drawn.note == "no picture: the 0 s that all pictures may take were used up"


def test_what_has_no_file_starts_no_process(media, picture, case, beside, monkeypatch):
    monkeypatch.setattr(module.PictureProcess, "draw", lambda *_: pytest.fail("nothing is to be drawn"))
    file = media.png(picture())
    cases = {
        "no picture: file not at hand (cat.png)": case(file, path="/home/somebody/cat.png", case_id="a"),
        "no picture: the evidence names no file": case(file, path=None, case_id="b"),
        "no picture: the case is no image, sound or video": case(file, "text", case_id="c"),
        "no picture: file not at hand (b\\x1b[31m.png)": case(file, path="../a/b\x1b[31m.png", case_id="d"),
        "no picture: file not at hand (x.png)": case(file, path="C:\\Users\\somebody\\..\\x.png/", case_id="e"),
    }
    found = failing_pictures(list(cases.values()), lambda *_: ())
    assert {pictures.note for pictures in found.values()} == set(cases)


def test_a_moved_folder_is_said_and_found_again_under_a_root(media, picture, case):
    file = media.png(picture())
    lost = case(file)
    assert failing_pictures([lost], ArtifactPlaces({}))[lost.key].note == "no picture: file not at hand (cat.png)"
    assert failing_pictures([lost], ArtifactPlaces({}, [media.folder]))[lost.key].figures


@pytest.mark.parametrize(
    "temporal",
    [
        {"bit_accuracy": 3},
        {"bit_accuracy": {"series": "abc"}},
        {"bit_accuracy": {"series": [True, False, True]}},
        {"bit_accuracy": {"series": [0.5, 2.0, 0.5]}},
        {"bit_accuracy": {"series": [0.5, None, 0.5]}},
        {"bit_accuracy": {"series": {}}},
        {"series": [1, 1, 1]},
    ],
)
def test_whatever_else_an_adapter_says_about_time_is_no_series(media, picture, case, beside, temporal):
    asked = module._request(case(media.png(picture()), "video", temporal=temporal).row, beside, 1000)
    assert asked.frame_bit_accuracy == ()


def test_a_series_travels_as_it_is(media, picture, case, beside):
    series = [0, 1, 0.5]
    asked = module._request(case(media.png(picture()), temporal={"bit_accuracy": {"series": series}}).row, beside, 1000)
    again = msgspec.json.decode(msgspec.json.encode(asked), type=type(asked))
    assert again == asked
    assert list(again.frame_bit_accuracy) == series


def test_no_folder_gets_into_pictures(media, picture, case, beside):
    good = media.png(picture())
    cases = [
        case(good, reference=media.put("broken.png", b"x"), case_id="1"),
        case(media.put("broken.bin", b"x"), "audio", case_id="2"),
        case(good, path=str(media.folder / "cat.png"), case_id="3"),
        case(good, path=str(media.folder / "gone.png"), case_id="4"),
    ]
    drawn = failing_pictures(cases, beside)
    said = [pictures.note for pictures in drawn.values()]
    said += [text for pictures in drawn.values() for figure in pictures.figures for text in (figure.alt, figure.caption)]
    assert not [text for text in said if text and str(media.folder) in text]
    assert [bool(pictures.figures) for pictures in drawn.values()] == [True, False, True, False]
