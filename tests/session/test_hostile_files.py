"""Files that lie elsewhere, or that change between being hashed and being shown, are never what a detector answers about."""

import hashlib
import io
import os
import textwrap

import numpy as np
import PIL.Image
import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs symbolic links and pipes")


@pytest.fixture
def outside(project, tmp_path_factory):
    """A file outside of the manifest's directory, a detector's answer as any artifact here."""
    file = tmp_path_factory.mktemp("outside") / "secret.bin"
    file.write_bytes(b"detected about something else")
    return file


def leave(project, way, outside):
    """Give a path that leads to ``outside``."""
    link = project.path / "link"
    if way == "absolute":
        return str(outside)
    if way == "up":
        return os.path.relpath(outside, project.path)
    if way == "up-inside":
        return f"a/../{os.path.relpath(outside, project.path)}"
    if way == "link":
        link.symlink_to(outside)
        return "link"
    if way == "linked-directory":
        link.symlink_to(outside.parent)
        return f"link/{outside.name}"
    link.symlink_to("../" * 30 + str(outside)[1:])
    return "./link"


WAYS = ("absolute", "up", "up-inside", "link", "linked-directory", "relative-link")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("field", ["path", "reference_path"])
def test_a_path_that_leaves_the_directory_is_refused_before_anything_runs(project, outside, way, field):
    digest = hashlib.sha256(outside.read_bytes()).hexdigest()
    pinned = {field: leave(project, way, outside), field.replace("path", "sha256"): digest}
    project.case("cat-01", **pinned)
    project.write()
    result = project.run("cases.jsonl")
    assert result.ret == 4
    assert f"cases.jsonl:1: {field}: " in result.stderr.str()
    assert not (project.path / "run").exists()


@pytest.mark.parametrize("way", ["link", "linked-directory", "relative-link"])
def test_lazily_too(project, outside, way):
    digest = hashlib.sha256(outside.read_bytes()).hexdigest()
    project.case("cat-01", path=leave(project, way, outside), sha256=digest)
    project.write()
    assert project.run("cases.jsonl", "--bench-verify=lazy").ret == 1
    assert project.evidence[0]["error"]["type"] == "ArtifactPathError"


SWAP = """
    import os, pathlib
    import pytest

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(item):
        path, outside = pathlib.Path({path!r}), pathlib.Path({outside!r})
        {swap}
"""


@pytest.mark.parametrize(
    ("swap", "error"),
    [
        ("path.write_bytes(b'detected about a lie')", "ArtifactMismatchError"),
        ("path.unlink(); path.symlink_to(outside)", "ArtifactPathError"),
        ("path.rename(path.with_suffix('.was')); path.symlink_to(path.with_suffix('.was'))", None),
        ("path.unlink(); os.mkfifo(path)", "ArtifactUnreadableError"),
        ("path.unlink(); path.symlink_to('/dev/zero')", "ArtifactPathError"),
        ("path.unlink(); path.mkdir()", "ArtifactUnreadableError"),
        ("path.unlink()", "ArtifactUnreadableError"),
        ("with path.open('wb') as file: file.truncate(2 << 30)", "ArtifactUnreadableError"),
    ],
    ids=["bytes", "link-outside", "link-to-itself", "pipe", "device", "directory", "gone", "giant"],
)
def test_a_file_that_is_swapped_after_it_was_hashed_is_an_error(project, outside, swap, error):
    result = run_swapping(project, outside, swap)
    if error is None:  # a link to the pinned bytes inside the directory is the pinned file
        assert result.ret == 0
    else:
        assert result.ret == 1
        assert project.evidence[0]["error"]["type"] == error
        assert project.evidence[0]["detection"]["status"] == "error"


def test_in_a_worker_too(project, outside):
    assert run_swapping(project, outside, "path.write_bytes(b'detected about a lie')", workers=1).ret == 1
    assert project.outcomes == {"cat-01": "error"}


def run_swapping(project, outside, swap, **how):
    row = project.case("cat-01")
    project.write()
    swap = SWAP.format(swap=swap, path=str(project.path / row["path"]), outside=str(outside))
    with (project.path / "conftest.py").open("a") as conftest:
        conftest.write(textwrap.dedent(swap))
    return project.run("cases.jsonl", **how)


SWAPPING_DETECTOR = """
    import os
    from pytest_benchbench import Adapter, AdapterDescription, Detection

    class Swapper(Adapter):
        '''Puts another file in the place of the one that it is asked about, while it is asked.'''
        name = "swapper"
        media_types = frozenset({{"image"}})
        needs = "{needs}"

        def detect(self, sample):
            for file in {paths!r}:
                os.replace(file + ".other", file)
            assert sample.decoded is None or sample.decoded.pixels.max() == 0
            return Detection("detected", label=__import__("hashlib").sha256(sample.data).hexdigest())

        def describe(self):
            return AdapterDescription("1", "r")

    def pytest_benchbench_adapters(registry):
        registry.register(Swapper)
"""


def picture(value):
    file = io.BytesIO()
    PIL.Image.fromarray(np.full((8, 8, 3), value, np.uint8)).save(file, "PNG")
    return file.getvalue()


@pytest.mark.parametrize("needs", ["bytes", "decoded"])
def test_no_figure_comes_from_a_file_that_is_swapped_while_the_detector_is_asked(project, needs):
    original, other = picture(0), picture(200)
    digest = hashlib.sha256(original).hexdigest()
    paths = [str(project.path / name) for name in ("a.png", "b.png")]
    for path in paths:
        with open(path, "wb") as file, open(path + ".other", "wb") as beside:
            file.write(original)
            beside.write(other)
    project.pytester.makeconftest(SWAPPING_DETECTOR.format(needs=needs, paths=paths))
    pinned = {"path": "a.png", "sha256": digest, "reference_path": "b.png", "reference_sha256": digest}
    project.case("cat-01", adapter="swapper", **pinned)
    project.write()
    assert project.run("cases.jsonl").ret == 0
    (row,) = project.evidence
    assert row["detection"]["label"] == digest
    assert row["fidelity"]["status"] == "error"
    assert "the manifest says" in row["fidelity"]["reason"]
