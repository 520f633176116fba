import os

import pytest

from pytest_benchbench.manifests.gathering import BuildingError, gather, media_type_of, readable


@pytest.fixture
def photos(tmp_path):
    folder = tmp_path / "photos"
    for name in ("b.png", "a.JPG", "sub/c.webp", ".hidden.png", ".cache/d.png", "notes.txt", "song.wav"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


def names(gathered):
    return [file.name for file in gathered.files]


def test_a_folder_gives_its_media_files_sorted_with_their_names_inside_it(photos):
    assert names(gather([photos], {"image"})) == ["a", "b", "sub/c"]


def test_other_files_are_named_and_hidden_ones_are_not(photos):
    known = ".avif, .bmp, .gif, .jpeg, .jpg, .png, .tif, .tiff, .webp"
    assert gather([photos], {"image"}).skipped == [
        f"{photos}/notes.txt: unknown suffix '.txt'; known for image: {known}",
        f"{photos}/song.wav: audio, not image",
    ]


def test_the_suffix_tells_the_media_type_where_several_are_wanted(photos):
    found = {file.name: file.media_type for file in gather([photos], {"image", "audio"}).files}
    assert found == {"a": "image", "b": "image", "song": "audio", "sub/c": "image"}


def test_a_file_given_by_itself_is_taken_at_its_word(photos):
    (file,) = gather([photos / "notes.txt"], {"image"}).files
    assert (file.name, file.media_type) == ("notes", "image")


@pytest.mark.parametrize(("name", "wanted"), [("song.wav", {"image"}), ("notes.txt", {"image", "video"})])
def test_a_file_given_by_itself_that_cannot_be_meant_is_refused(photos, name, wanted):
    with pytest.raises(BuildingError, match=name):
        gather([photos / name], wanted)


def test_a_file_that_is_given_twice_comes_once(photos):
    (photos / "link.png").symlink_to(photos / "b.png")
    assert names(gather([photos / "b.png", photos, photos / "sub"], {"image"})) == ["a", "b", "sub/c"]


def test_the_folder_of_references_is_left_out_unless_it_is_what_was_given(photos):
    assert names(gather([photos], {"image"}, leave_out=photos / "sub")) == ["a", "b"]
    assert names(gather([photos / "sub"], {"image"}, leave_out=photos / "sub")) == ["c"]


def test_pipes_and_broken_links_are_not_waited_for(photos):
    os.mkfifo(photos / "pipe.png")
    (photos / "broken.png").symlink_to("nowhere.png")
    found = gather([photos], {"image"})
    assert names(found) == ["a", "b", "sub/c"]
    assert f"{photos}/pipe.png: not a regular file" in found.skipped
    assert f"{photos}/broken.png: not a regular file" in found.skipped


def test_every_path_can_be_shown_on_one_line(tmp_path):
    for name in (b"a\nb.png", b"\xff.png", b"\x1b[31m.png"):
        assert readable(tmp_path / os.fsdecode(name)).isprintable()


def test_the_suffix_may_be_written_in_capitals(tmp_path):
    assert media_type_of(tmp_path / "A.WAV") == "audio"
