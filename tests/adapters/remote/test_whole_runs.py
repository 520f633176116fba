"""Whole runs against the played vendors: scores in the evidence, keys nowhere, golden sets alone."""

import hashlib
import json
import sys
from pathlib import Path

import pytest

TEXT = "Seven quiet herons walked along the river. " * 12


def test_three_vendors_score_a_golden_set(project, vendors):
    project.texts(3)
    named = ["gptzero:plan=starter,", "originality:model=lite-102,", "copyleaks:"]
    result = project.run(*(f"--bench-adapter={vendor}{project.reached}" for vendor in named))
    assert result.ret == 0, result.stdout.str()
    rows = project.rows
    assert len(rows) == 9
    assert {row["detection"]["status"] for row in rows} == {"scored"}
    assert {row["key"]["adapter"] for row in rows} == {row["detection"]["scorer"]["vendor"] for row in rows}
    scans = [asked for asked in vendors.asked if "login" not in asked.path]
    assert len(scans) == 9
    for _, text in project.written():
        assert "quiet herons" not in text


def echoing(player, names):
    """Acts of a vendor that says back what it was sent, wherever it can be said."""

    def secret(vendors):
        headers = vendors.asked[-1].headers
        found = (headers.get(name, "") for name in names)
        return next(value for value in found if value).removeprefix("Bearer ")

    def acts(vendors):
        def renamed(document):
            document["version"] = document["modelVersion"] = secret(vendors)
            document["scanId"] = secret(vendors)
            for first in document.get("documents", []):
                first["predicted_class"] = secret(vendors)
            return document

        yield lambda act: player.refusal(400, f"the key {secret(vendors)} of {secret(vendors)[:20]} is bad")
        yield lambda act: player.Act(403, f"<html>{secret(vendors)}</html>".encode(), content_type="text/html")
        yield lambda act: player.Act(302, headers={"Location": f"https://127.0.0.1/?key={secret(vendors)}"})
        yield lambda act: player.Act(200, renamed(act.body))
        yield lambda act: player.Act(200, {secret(vendors): 1, "Bearer": {secret(vendors): 2}})
        yield lambda act: player.Act(200, b"{", content_type=secret(vendors))
        yield lambda act: player.Act(500, {"error": {"message": json.dumps(dict(vendors.asked[-1].headers))}})
        yield lambda act: player.Act(200, f'{{"{secret(vendors)}": NaN}}'.encode(), headers={"X-Echo": secret(vendors)})
        yield lambda act: player.Act(200, {"a": 1}, manner="cut")

    return acts


@pytest.mark.parametrize(("vendor", "workers"), [("gptzero", 0), ("copyleaks", 2)])
def test_a_key_that_a_vendor_says_back_is_nowhere(project, vendors, player, keys, vendor, workers):
    project.texts(9)
    vendors.play(echoing(player, ("x-api-key", "authorization"))(vendors))
    loud = ("-vv", "-rA", "--showlocals", "--log-level=DEBUG", "--junitxml=junit.xml", "-W", "default")
    result = project.run(f"--bench-adapter={vendor}:concurrency=1,retries=0,{project.reached}", *loud, workers=workers)
    assert result.ret == 1, result.stdout.str()
    statuses = [row["detection"]["status"] for row in project.rows]
    assert set(statuses) == {"error", "scored"}
    assert len(vendors.asked) >= 6
    secrets = {*keys.values(), *vendors.tokens}
    for where, text in (*project.written(), ("stdout", result.stdout.str()), ("stderr", result.stderr.str())):
        for secret in secrets:
            assert secret[:12] not in text, where


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("base_url=https://127.0.0.1:9", "NotSent: 127.0.0.1:9: "),
        ("base_url={url}", "certificate verify failed"),
    ],
)
def test_a_connection_that_fails_shows_no_key(project, vendors, keys, options, said):
    project.texts(1)
    result = project.run(
        f"--bench-adapter=gptzero:retries=0,{options.format(url=vendors.url)}", "-vv", "-rA", "--showlocals"
    )
    assert result.ret == 1
    assert said in result.stdout.str()
    for where, text in (*project.written(), ("stdout", result.stdout.str()), ("stderr", result.stderr.str())):
        assert keys["GPTZERO_API_KEY"][:12] not in text, where
    assert vendors.asked == []


@pytest.mark.parametrize("address", ["", "base_url=https://played.invalid,", "base_url=https://127.1,"])
def test_a_vendor_is_not_asked_unless_the_network_is_allowed(project, vendors, address):
    project.texts(1)
    result = project.run(f"--bench-adapter=gptzero:{address}ca_file={vendors.ca_file}", "-rs", network="loopback")
    assert result.ret == 21
    result.stdout.fnmatch_lines(["*asking it leaves this machine; to let it, give --bench-network=allow*"])
    assert vendors.asked == []


@pytest.mark.parametrize("vendor", ["gptzero", "copyleaks"])
def test_a_vendor_that_is_played_on_this_machine_is_asked_by_default(project, vendors, vendor):
    project.texts(1)
    result = project.run(f"--bench-adapter={vendor}:{project.reached}", network="loopback")
    assert result.ret == 0, result.stdout.str()
    (row,) = project.rows
    assert row["network"] == {"mode": "loopback"}
    assert row["detection"]["status"] == "scored"
    assert vendors.asked


def test_where_nothing_is_reached_a_played_vendor_is_not_asked_either(project, vendors):
    project.texts(1)
    result = project.run(f"--bench-adapter=gptzero:{project.reached}", "-rs", network="deny")
    assert result.ret == 21
    result.stdout.fnmatch_lines(["*asking it reaches this machine; to let it, give --bench-network=loopback*"])
    assert vendors.asked == []


def test_a_played_vendor_cannot_send_a_run_elsewhere(project, vendors, player):
    project.texts(1)
    vendors.play([player.Act(307, headers={"Location": "https://elsewhere.invalid/"})])
    result = project.run(f"--bench-adapter=gptzero:retries=0,{project.reached}", network="loopback")
    assert result.ret == 1
    (row,) = project.rows
    assert "redirects are not followed" in row["error"]["message"]
    assert row["network"] == {"mode": "loopback"}
    assert len(vendors.asked) == 1


def test_a_missing_key_makes_it_unavailable(project, vendors, monkeypatch):
    project.texts(1)
    monkeypatch.delenv("GPTZERO_API_KEY")
    result = project.run(f"--bench-adapter=gptzero:{project.reached}")
    assert result.ret == 21
    (row,) = project.rows
    assert row["outcome"] == "unavailable"
    assert "GPTZERO_API_KEY is not set" in row["detection"]["reason"]
    assert vendors.asked == []


SHA256 = hashlib.sha256(TEXT.encode()).hexdigest()

WATERMARK = {
    "schema_version": 1,
    "case_id": "mine",
    "pair_id": "mine",
    "media_type": "text",
    "adapter": "gptzero",
    "arm": "positive",
    "state": "marked",
    "path": "mine.txt",
    "sha256": SHA256,
    "reference_path": None,
    "reference_sha256": None,
    "source_revision": "mine@1",
    "transform": {"name": "none", "revision": "1", "parameters": {}},
    "seed": None,
    "expected": "detected",
}

DATASET = {
    "id": "mine",
    "baseId": "mine",
    "sha256": SHA256,
    "label": 0,
    "split": "test",
    "source": "camera",
    "contentGroup": "photo",
    "transform": "none",
    "license": "CC0-1.0",
    "path": "mine.txt",
}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (WATERMARK, "cases.jsonl:1: media_type: expected image, audio or video, got 'text'"),
        (WATERMARK | {"media_type": "image"}, "gptzero"),
        (DATASET, "gptzero is asked about text, and rows of cases.jsonl are images"),
    ],
)
def test_no_other_manifest_than_a_golden_set_can_send_a_text(project, vendors, row, said):
    (project.path / "mine.txt").write_text(TEXT)
    (project.path / "cases.jsonl").write_text(json.dumps(row) + "\n")
    split = [] if row is not DATASET else ["--bench-split=test"]
    arguments = ["cases.jsonl", *split, "-p", "no:xdist", "--bench-network=allow"]
    result = project.pytester.runpytest_subprocess(*arguments, f"--bench-adapter=gptzero:{project.reached}")
    assert result.ret == 4
    assert said in result.stderr.str()
    assert vendors.asked == []


def test_the_player_says_how_it_is_asked(pytester, keys):
    script = Path(__file__).parents[3] / "benchmarks" / "played_vendors.py"
    process = pytester.popen([sys.executable, str(script), "--output-dir", "played"], stdin=-1)
    try:
        lines = [process.stdout.readline().decode() for _ in range(4)]
    finally:
        process.terminate()
        process.communicate()
    assert [line.split(":")[0] for line in lines[1:]] == [
        "--bench-adapter=gptzero",
        "--bench-adapter=originality",
        "--bench-adapter=copyleaks",
    ]
    assert (pytester.path / "played" / "ca.pem").is_file()
