import os

import pytest

from pytest_benchbench.evidence.recorded_run import RecordedRun, RecordedRunError, read_run
from pytest_benchbench.evidence.score_rows import is_evidence, read_scores
from pytest_benchbench.evidence.score_source import ScoreError
from pytest_benchbench.gates.policy import PolicyError, load_policy
from pytest_benchbench.manifests.dataset_rows import images_of_table
from pytest_benchbench.manifests.gathering import BuildingError
from pytest_benchbench.manifests.regular_files import open_regular
from pytest_benchbench.manifests.yaml_documents import YamlError, read_bounded

pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")


@pytest.fixture
def pipe(tmp_path):
    """Nobody ever writes into it: whoever opens it as a file waits for ever."""
    path = tmp_path / "pipe.yaml"
    os.mkfifo(path)
    return path


def test_a_file_and_a_link_to_one_are_read(tmp_path):
    (tmp_path / "file").write_bytes(b"content")
    (tmp_path / "link").symlink_to("file")
    for name in ("file", "link"):
        with open_regular(tmp_path / name) as file:
            assert file.read() == b"content"


@pipes
def test_anything_else_is_refused_at_once(tmp_path, pipe):
    with pytest.raises(OSError, match="not a regular file"):
        open_regular(pipe)
    with pytest.raises(IsADirectoryError):
        open_regular(tmp_path)
    with pytest.raises(FileNotFoundError):
        open_regular(tmp_path / "absent")


@pipes
@pytest.mark.parametrize(
    ("read", "error"),
    [
        (lambda pipe: load_policy(str(pipe)), PolicyError),
        (is_evidence, ScoreError),
        (lambda pipe: read_scores(pipe.with_name("scores.jsonl"), manifest=pipe), ScoreError),
        (lambda pipe: images_of_table(pipe, {}), BuildingError),
        (lambda pipe: read_bounded(pipe, name=str(pipe)), YamlError),
    ],
)
def test_a_pipe_that_is_named_as_a_file_is_refused_in_one_line(pipe, read, error):
    with pytest.raises(error, match=r"pipe\.yaml: .*not a regular file") as caught:
        read(pipe)
    assert "\n" not in str(caught.value)


@pipes
def test_a_pipe_in_the_place_of_what_a_run_says_is_refused(tmp_path):
    os.mkfifo(tmp_path / "run.json")
    with pytest.raises(RecordedRunError, match=r"run\.json: cannot be read: not a regular file"):
        read_run(tmp_path)


@pipes
def test_a_pipe_in_the_place_of_a_report_says_nothing(tmp_path):
    os.mkfifo(tmp_path / "report.json")
    run = RecordedRun(tmp_path, {"finished": "x"}, (), is_merged=False, require_available=False)
    assert run.is_altered("a" * 64)
