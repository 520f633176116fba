import json

import pytest
from click.testing import CliRunner

from pytest_benchbench.cli import main


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "manifest.json").write_text(json.dumps({"manifest_version": 3, "name": "x", "version": "1"}))

    def invoke(*arguments, extension="dist"):
        return CliRunner().invoke(main, ["browser-proof", "--extension", extension, "--output-dir", "out", *arguments])

    yield invoke
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith((".out", "out", "pro"))) == []


def test_it_is_listed():
    assert "browser-proof" in CliRunner().invoke(main, ["--help"]).output


def test_a_browser_that_is_not_there_is_no_verdict_and_says_what_to_install(run):
    result = run("--launch", "no-such-browser", "--count", "1")
    assert result.exit_code == 20
    assert len(result.stderr.splitlines()) == 1
    assert "install" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "extension", "message"),
    [
        ([], "none", "does not exist"),
        ([], ".", "has no manifest.json"),
        (["--runtime", "gpu"], "dist", "'gpu' is not one of"),
        (["--count", "0"], "dist", "--count"),
        (["--timeout", "nan"], "dist", "--timeout"),
        (["--watch", "inf"], "dist", "--watch"),
        (["--profile", "dist/manifest.json"], "dist", "manifest.json"),
        (["none.png"], "dist", "none.png"),
        (["empty"], "dist", "0 files; give 1 to 1000"),
    ],
)
def test_wrong_use_is_told_before_anything_starts(run, tmp_path, arguments, extension, message):
    (tmp_path / "empty").mkdir()
    result = run(*arguments, extension=extension)
    assert result.exit_code == 2, result.output
    assert message in result.output
    assert "Traceback" not in result.output


def test_an_existing_folder_is_refused(run, tmp_path):
    (tmp_path / "out").mkdir()
    result = run("--count", "1")
    assert result.exit_code == 2
    assert "--output-dir=out: exists already" in result.output
    (tmp_path / "out").rmdir()


def test_an_image_that_is_no_file_or_too_large_is_refused(run, tmp_path, monkeypatch):
    monkeypatch.setattr("pytest_benchbench.cli.browser_proof.MAX_IMAGE_BYTES", 3)
    (tmp_path / "a.png").write_bytes(b"1234")
    assert "a.png: larger than 3 bytes" in run("a.png").output
