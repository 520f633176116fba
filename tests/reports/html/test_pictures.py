"""All failing cases: who is drawn, in how many bytes and how long, and what the page says of the others."""

import msgspec
import numpy as np
import pytest

from pytest_benchbench.reports.html import pictures as module
from pytest_benchbench.reports.html.artifact_places import ArtifactPlaces
from pytest_benchbench.reports.html.failing import FailingCase
from pytest_benchbench.reports.html.pictures import failing_pictures


@pytest.fixture
def beside(media):
    """Finds files beside their manifest, in the test's own folder."""
    return ArtifactPlaces({"a" * 64: [media.folder / "cases.jsonl"]})


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
    found = failing_pictures(list(cases.values()), ArtifactPlaces({}))
    assert {pictures.note for pictures in found.values()} == set(cases)


def test_the_file_of_a_labelled_image_is_named_by_its_manifest(media, picture, case, beside):
    file, other = media.png(picture()), media.png(picture(shift=3), "other.png")
    (media.folder / "cases.jsonl").write_text('{"id": "x"}\n{"path": "cat.png"}\n{"path": "other.png"}\n')
    cases = {line: labelled(case(file, case_id=f"line-{line}"), line) for line in (1, 2, 3, None)}
    drawn = failing_pictures(list(cases.values()), beside)
    assert {line: drawn[each.key].note for line, each in cases.items()} == {
        1: "no picture: its manifest is not at hand, or names no file",
        2: None,
        3: "no picture: other.png is not the file that was measured: its SHA-256 is another",
        None: "no picture: its manifest is not at hand, or names no file",
    }
    assert [figure.alt for figure in drawn[cases[2].key].figures] == ["Thumbnail of cat.png"]
    assert other.sha256 != file.sha256


def request_of(failing, places):
    return module._request(failing.row, failing.row.case["path"], places, 1000)


def labelled(failing, line):
    """Give a failing case as one of a dataset: evidence of it names no file."""
    row = failing.row
    case = {"id": row.key.case_id, "baseId": "b", "label": 1}
    told = msgspec.structs.replace(row, kind="dataset", case=case, manifest=msgspec.structs.replace(row.manifest, line=line))
    return FailingCase(msgspec.structs.replace(failing.settled, row=told))


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
    asked = request_of(case(media.png(picture()), "video", temporal=temporal), beside)
    assert asked.frame_bit_accuracy == ()


def test_a_series_travels_as_it_is(media, picture, case, beside):
    series = [0, 1, 0.5]
    asked = request_of(case(media.png(picture()), temporal={"bit_accuracy": {"series": series}}), beside)
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
