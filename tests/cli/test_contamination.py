import hashlib
import json
import os
import subprocess

import pytest
from click.testing import CliRunner

from pytest_benchbench.cli import main

SECRET = (
    "wombats juggle seventeen violet lanterns beneath forgotten staircases whenever marmalade clocks whisper northward again"
)


def golden(split="holdout"):
    provenance = {"kind": "human", "source": "s", "date": "1851", "license": "CC0-1.0", "termsChecked": "2026-01-01"}
    one = {"id": "ho-001", "split": split, "category": "x", "label": "human", "text": SECRET, "provenance": provenance}
    one |= {"labelOwner": "A", "labelSource": "provenance", "borderline": False, "reviewers": ["B"]}
    head = {"schema_version": 1, "name": "mine", "version": "v1", "status": "example", "licenses": ["CC0-1.0"]}
    return json.dumps({**head, "samples": [one]}).encode()


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "golden.json").write_bytes(golden())
    (tmp_path / "golden.sha256").write_text(f"{hashlib.sha256(golden()).hexdigest()}  golden.json\n")
    (tmp_path / "train").mkdir()
    return tmp_path


def run(*arguments):
    done = CliRunner().invoke(main, ["contamination", "--golden", "golden.json", *map(str, arguments)])
    assert SECRET.split()[3] not in done.output
    return done.exit_code, done.output


def test_nothing_found_is_0(place):
    (place / "train/a.txt").write_text("a b\n")
    assert run("--against", "train") == (0, "no overlap with 1 holdout samples of mine in 1 file (4 bytes)\n")


def test_an_overlap_is_1_with_file_line_id_and_kind(place):
    (place / "train/a.yaml").write_text("exclude: []\ntrain: [ho-001]\n")
    (place / "train/b.jsonl").write_text(json.dumps({"text": SECRET.upper()}) + "\n")
    (place / "c.txt").write_text("\n" + " ".join(SECRET.split()[:12]) + "\n")
    code, output = run("--against", "train", "c.txt")
    assert code == 1
    assert output.splitlines() == [
        "train/a.yaml:2: 'ho-001': id: its id",
        "train/b.jsonl:1: 'ho-001': text: its text, word for word",
        "c.txt:2: 'ho-001': shingles: 80% of its runs of 5 words",
        f"3 overlaps with 1 holdout samples of mine in 3 files ({sum(p.stat().st_size for p in _files(place)):,} bytes)",
    ]


def _files(place):
    return [place / "train/a.yaml", place / "train/b.jsonl", place / "c.txt"]


def test_json(place):
    (place / "train/b.txt").write_text(f"{SECRET}\n")
    (place / "train/c.bin").write_bytes(b"\0")
    code, output = run("--against", ".", "--json")
    document = json.loads(output)
    assert code == 1
    assert document["overlaps"] == [{"file": "train/b.txt", "line": 1, "sample": "ho-001", "kind": "text", "share": 1.0}]
    assert {entry["file"]: entry["reason"] for entry in document["not_looked_into"]} == {
        "golden.json": "the golden set itself",
        "golden.sha256": "the golden set itself",
        "train/c.bin": "binary",
    }
    assert document["golden_set"]["sha256"] == hashlib.sha256(golden()).hexdigest()
    assert (document["threshold"], document["shingle_words"], document["complete"]) == (0.5, 5, True)


def test_a_file_that_could_not_be_looked_into_is_21_unless_an_overlap_is_found(place):
    (place / "train/a.gz").write_bytes(b"\x1f\x8bdamaged")
    assert run("--against", "train")[0] == 21
    assert run("--against", "train", "--max-bytes", 1)[0] == 21
    (place / "train/b.txt").write_text("ho-001")
    assert run("--against", "train")[0] == 1


def test_a_packed_file_is_never_passed_in_silence(place):
    (place / "train/corpus.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfdrest")
    (place / "train/corpus.zip").write_bytes(b"PK\x03\x04rest")
    (place / "train/a.txt").write_text("a b\n")
    code, output = run("--against", "train")
    assert code == 21
    assert "train/corpus.zip: not looked into: packed (zip); unpack it to have it looked into" in output.splitlines()
    assert output.splitlines()[-1].endswith("; 2 files that may hold a text not looked into, or not to the end")
    code, output = run("--against", "train", "--leave-out", "*.zip", "--leave-out", "train/*.zst")
    assert code == 0
    assert "train/corpus.zip: not looked into: left out by --leave-out *.zip" in output.splitlines()
    assert "may hold a text" not in output
    assert run("--against", "train", "--leave-out", "*.ZIP")[0] == 21


def test_folders_without_a_text_are_21_and_a_file_without_one_is_not(place):
    code, output = run("--against", "train")
    assert code == 21
    assert "not one file was looked into, so nothing is known" in output
    assert run("--against", ".", "--json")[0] == 21  # the golden set itself counts for nothing
    (place / "train/picture.png").write_bytes(b"\x89PNG\0")
    assert run("--against", "train")[0] == 21
    assert run("train/picture.png")[0] == 0  # as a hook gives what is committed
    (place / "train/a.txt").write_text("a b\n")
    assert run("--against", "train")[0] == 0


def test_names_of_files_cannot_forge_lines(place):
    (place / "train/a\nb\x1b[2J.txt").write_text("ho-001")
    code, output = run("--against", "train")
    assert code == 1
    assert output.splitlines()[0] == "train/a\\nb\\x1b[2J.txt:1: 'ho-001': id: its id"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "give one of --against PATH..., --diff BASE and --audit"),
        (("--against", "train", "--audit"), "give one of"),
        (("--diff", "main", "train"), "give one of"),
        (("--against", "none"), "--against none: there is nothing of that name"),
        (("--against", "train", "--audit-log", "x"), "--audit-log belongs to --audit"),
        (("--against", "train", "--threshold", "nan"), "--threshold"),
        (("--against", "train", "--threshold", "0"), "--threshold"),
        (("--diff", "--x"), "git"),
        (("--diff", "no-such-branch"), "--diff 'no-such-branch': "),
    ],
)
def test_wrong_use_is_2(place, arguments, said):
    code, output = run(*arguments)
    assert code == 2
    assert said in output


@pytest.mark.parametrize(
    ("data", "digest", "said"),
    [
        (golden() + b" ", hashlib.sha256(golden()).hexdigest(), "changed since it was frozen"),
        (golden(), None, "not frozen"),
        (golden("tune"), hashlib.sha256(golden("tune")).hexdigest(), "has no sample of the split holdout"),
        (b"{}", hashlib.sha256(b"{}").hexdigest(), "golden.json"),
    ],
)
def test_a_golden_set_that_is_not_the_frozen_one_is_2(place, data, digest, said):
    (place / "golden.json").write_bytes(data)
    (place / "golden.sha256").unlink()
    if digest:
        (place / "golden.sha256").write_text(f"{digest}\n")
    code, output = run("--against", "train")
    assert code == 2
    assert said in output
    assert "Traceback" not in output


def test_an_audit_is_recorded_and_its_file_only_grows(place):
    assert run("--audit", "--audit-log", "audit.jsonl")[0] == 0
    first = (place / "audit.jsonl").read_bytes()
    code, output = run("--audit", "--audit-log", "audit.jsonl", "--json")
    assert code == 0
    after = (place / "audit.jsonl").read_bytes()
    assert after.startswith(first)
    records = [json.loads(line) for line in after.splitlines()]
    assert records[1] == json.loads(output)
    assert records[0]["passed"]
    assert records[0]["planted"] == {"ids.yaml": 1, "texts.jsonl": 1, "texts.txt.gz": 1, "edited.txt": 1}
    assert records[0]["date"].endswith("+00:00")
    assert records[0]["golden_set"] == {"name": "mine", "version": "v1", "sha256": hashlib.sha256(golden()).hexdigest()}


def test_a_failed_audit_is_1_and_recorded_too(place):
    code, output = run("--audit", "--audit-log", "audit.jsonl", "--threshold", "0.95")
    assert code == 1
    assert "missed: 'ho-001' in edited.txt" in output
    assert "audit failed, recorded in audit.jsonl" in output
    assert not json.loads((place / "audit.jsonl").read_bytes())["passed"]


def test_an_audit_file_that_ends_within_a_line_is_left_alone(place):
    (place / "audit.jsonl").write_text('{"half"')
    code, output = run("--audit", "--audit-log", "audit.jsonl")
    assert code == 1
    assert "its last line is not finished" in output
    assert (place / "audit.jsonl").read_text() == '{"half"'
    assert run("--audit", "--audit-log", "none/audit.jsonl")[0] == 1


def test_what_was_added_since_a_branch(place, monkeypatch):
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]

    def git(*arguments):
        subprocess.run(["git", *identity, *arguments], check=True, capture_output=True)

    (place / "train/old.txt").write_text("ho-001\n")
    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    assert run("--diff", "main")[0] == 0
    (place / "train/new \u00e9.txt").write_text("a\nho-001\n")
    (place / "link").symlink_to("/etc")
    (place / "nested").mkdir()
    git("init", "-q", "nested")
    (place / "nested" / "theirs.txt").write_text("ho-001\n")
    code, output = run("--diff", "main")
    assert code == 1
    assert output.splitlines()[:3] == [
        "train/new \u00e9.txt:2: 'ho-001': id: its id",
        "link: not looked into: a symbolic link, not followed",
        "nested: not looked into: a repository of its own",
    ]
    monkeypatch.chdir(place / "train")
    done = CliRunner().invoke(main, ["contamination", "--golden", "../golden.json", "--diff", "main"])
    assert done.output.startswith("new \u00e9.txt:2: ")
