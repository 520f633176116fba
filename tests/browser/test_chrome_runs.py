"""Whole runs of the adapter, by pytest as users start it."""

import hashlib
import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from pytest_benchbench import Sample
from pytest_benchbench.browser.launching import launch_browser

DOCUMENTED = Path(__file__).parents[2] / "docs" / "chrome.md"

PUPPET = Path(__file__).parent / "puppet"


EXPOSED = {
    *("evaluationMode", "result", "rawScore", "pixelScore", "provider", "decidedBy", "first", "profile", "transform"),
    *("wallMs", "pipelineMs", "queueMs", "fetchMs", "hashMs", "decodeMs", "preprocessMs", "inferenceMs"),
    *("cropCount", "cacheStatus", "modelSha256", "preprocessingVersion", "sha256", "submitBoot", "deliverBoot"),
}
"""What a row of the fixture extension says about its score."""


@pytest.fixture(scope="module")
def run(chromium, tmp_path_factory):
    """``run(samples, options, *arguments)``: run a dataset of samples; gives exit code, output, evidence by id, folder."""

    def run(samples, options, *arguments, transforms=("original",)):
        folder = tmp_path_factory.mktemp("run")
        rows = []
        for number, sample in enumerate(samples):
            (folder / f"{number}.png").write_bytes(sample.data)
            real = {"source": "camera", "label": 0}
            generated = {"source": "made", "label": 1, "generatorFamily": "drawn"}
            row = {"id": f"case-{number}", "baseId": f"base-{number}", "sha256": sample.sha256, "path": f"{number}.png"}
            row |= {"split": "test", "contentGroup": "photo", "license": "CC0"}
            row["transform"] = transforms[number % len(transforms)]
            rows.append(row | {"resolutionGroup": "thumbnail"} | (generated if number % 2 else real))
        (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--manifest=cases.jsonl", "--bench-split=test"]
        adapter = f"--bench-adapter=chrome:launch={chromium.executable},{options}"
        ran = subprocess.run(
            [*command, adapter, "--bench-run-dir=run", *arguments],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=280,
        )
        lines = (folder / "run" / "evidence.jsonl").read_text().splitlines()
        evidence = {row["key"]["case_id"]: row for row in map(json.loads, lines)}
        return ran.returncode, ran.stdout + ran.stderr, evidence, folder / "run"

    return run


@pytest.fixture(scope="module")
def samples(picture):
    return [picture(seed) for seed in range(5)]


@pytest.fixture(scope="module")
def by_contract(run, samples, build_extension):
    """A run of the extension that keeps the contract, in waves of three, over two workers."""
    return run(samples, f"extension={build_extension()},expect_runtime=wasm,wave=3", "-n", "2")


def test_every_row_is_measured_by_what_is_deployed(by_contract, samples):
    code, output, evidence, directory = by_contract
    assert code == 0, output
    assert len(evidence) == len(samples)
    for number, sample in enumerate(samples):
        row = evidence[f"case-{number}"]
        scorer = row["detection"]["scorer"]
        assert row["outcome"] == "measured"
        assert (scorer["evaluationMode"], scorer["provider"], scorer["sha256"]) == ("deployed", "wasm", sample.sha256)
        assert set(scorer) - {"tabHidden"} == EXPOSED
        assert all(scorer[name] >= 0 for name in EXPOSED if name.endswith("Ms"))
        assert (scorer["cropCount"], scorer["cacheStatus"], scorer["transform"]) == (5, "miss", "original")
    assert [row["batch"]["size"] for row in evidence.values()] == [3, 3, 3, 2, 2]
    assert sum(row["detection"]["scorer"]["first"] for row in evidence.values()) == 1
    assert (directory / "summary.json").is_file()
    for row in evidence.values():  # what lies where on this machine is nobody's business
        assert not any("/" in value for value in row["adapter"]["options"].values())


def test_the_documented_profile_reads_the_same_scores_off_a_stranger(by_contract, run, samples, build_extension, tmp_path):
    dist = build_extension(variant="stranger")
    (documented,) = re.findall(r"```yaml\n(.*?)```", DOCUMENTED.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "dist").symlink_to(dist)
    (tmp_path / "stranger.yaml").write_text(documented)
    code, output, evidence, _ = run(samples, f"extension={dist},expect_runtime=wasm,profile={tmp_path / 'stranger.yaml'}")
    assert code == 0, output
    for case, row in evidence.items():
        contract = by_contract[2][case]["detection"]
        assert row["detection"]["score"] == contract["score"]
        told = ("result", "provider", "cropCount", "modelSha256", "decidedBy")
        assert {name: row["detection"]["scorer"][name] for name in told} == {name: contract["scorer"][name] for name in told}
        assert "sha256" not in row["detection"]["scorer"]


def drawn(width):
    """Give an image of this width, by which the puppet knows what to do."""
    file = io.BytesIO()
    Image.new("RGB", (width, 70), (width, 90, 30)).save(file, "PNG")
    return Sample("image", hashlib.sha256(file.getvalue()).hexdigest(), file.getvalue())


def test_terminal_rows_stay_in_the_evidence_and_fail_the_run(run):
    code, output, evidence, _ = run([drawn(100), drawn(104), drawn(108)], f"extension={PUPPET},expect_runtime=wasm")
    assert code == 1
    assert {case: (row["outcome"], row["detection"]["status"]) for case, row in evidence.items()} == {
        "case-0": ("measured", "scored"),
        "case-1": ("error", "disabled"),
        "case-2": ("error", "error"),
    }
    assert "the extension ran on webgpu, expected wasm" in output


def test_a_slice_is_selected_by_its_transform_and_named_by_its_rows(run):
    slices = ("original", "jpeg-75")
    code, output, evidence, _ = run(
        [drawn(100), drawn(100), drawn(101)],
        f"extension={PUPPET},expect_runtime=wasm",
        "--bench-select=transform=jpeg-75",
        transforms=slices,
    )
    assert code == 0, output
    assert list(evidence) == ["case-1"]
    assert evidence["case-1"]["case"]["transform"] == evidence["case-1"]["detection"]["scorer"]["transform"] == "jpeg-75"


def test_where_files_lie_is_shown_and_not_recorded(run, tmp_path, chromium):
    place = tmp_path / "my secret folder"
    shutil.copytree(PUPPET, place / "dist")
    with launch_browser(chromium.executable, extension=PUPPET, runtime="wasm") as running:
        other = f"--bench-adapter=other=chrome:port={running.port},extension={place / 'dist'}"
        code, output, _, directory = run([drawn(100)], f"extension={PUPPET}", other)
    assert code == 1
    assert f"the unpacked extension is puppet of {PUPPET}, another folder than {place / 'dist'}" in output
    written = (directory / "evidence.jsonl").read_text()
    assert "the unpacked extension is puppet of puppet, another folder than dist" in written
    assert "my secret folder" not in written


def test_a_request_that_leaves_the_machine_fails_the_run_and_is_named(run):
    code, output, evidence, _ = run([drawn(100), drawn(111)], f"extension={PUPPET}")
    assert code == 1
    assert {row["outcome"] for row in evidence.values()} == {"error"}
    assert "OutsideRequest: it asked outside of this machine: http://192.0.2.1/leak" in output


LEAKS = {
    "leak-http": "http://192.0.2.1/leak (",
    "leak-websocket": "ws://192.0.2.1/leak (",
    "leak-dns": "http://leak.benchbench.example/ (",
    "leak-webrtc": "packet 192.0.2.1:3478",
    "leak-worker": "request http://192.0.2.1/by-worker by chrome-extension://",
    "leak-and-crash": "request http://192.0.2.1/last-words by chrome-extension://",
}
"""What the fixture extension does on demand, and by what a run names it."""


@pytest.fixture(scope="module")
def leaking(run, samples, chromium, build_extension, way_out):
    """A run of every leaking extension beside an honest one, with no option that asks for a log."""
    first, *others = LEAKS
    given = [
        f"--bench-adapter={leak}=chrome:launch={chromium.executable},extension={build_extension(misbehave=(leak,))}"
        for leak in others
    ]
    given.append(f"--bench-adapter=honest=chrome:launch={chromium.executable},extension={build_extension()}")
    code, output, _, directory = run(samples[:3], f"extension={build_extension(misbehave=(first,))}", *given)
    rows = [json.loads(line) for line in (directory / "evidence.jsonl").read_text().splitlines()]
    aliases = {row["key"]["adapter"] for row in rows}
    assert len(aliases) == len(LEAKS) + 1
    return code, output, {name: [row for row in rows if row["key"]["adapter"] == name] for name in aliases}


@pytest.mark.parametrize("leak", LEAKS)
def test_a_run_fails_and_names_whatever_a_browser_asked_for_that_leaves_the_machine(leaking, leak):
    code, output, rows = leaking
    mine = rows["chrome" if leak == next(iter(LEAKS)) else leak]
    assert code == 1
    assert {row["key"]["case_id"] for row in mine} == {"case-0", "case-1", "case-2"}
    assert {row["outcome"] for row in mine} == {"error"}
    for row in mine:  # the wave that was asked, and at the end all answers of the session
        assert row["error"]["type"] in ("OutsideRequest", "AnswersWithdrawn")
        assert f"it asked outside of this machine: {LEAKS[leak]}" in row["error"]["message"]
    assert LEAKS[leak] in output


def test_the_honest_one_beside_them_is_measured(leaking):
    assert [row["outcome"] for row in leaking[2]["honest"]] == ["measured"] * 3
