"""Whatever a manifest, a list of known mismatches or a detector says: a terminal shows it, and obeys none of it."""

import json
import os
import re
import xml.etree.ElementTree as ET

import pytest

OBEYED = "\x1b]0;title\x07\x1b[31m"
TURNED = "\u202e"
FORGED = "\ncases.jsonl:1: valid"


def shown(result):
    """All lines that were printed; none of them may hold what a terminal obeys."""
    lines = (result.stdout.str() + result.stderr.str()).splitlines()
    assert not [line for line in lines if not line.isprintable()]
    assert "cases.jsonl:1: valid" not in lines
    return lines


@pytest.mark.parametrize("verify", ["preflight", "lazy"])
def test_a_path_that_colours_and_forges_lines_is_shown_escaped(project, verify):
    project.case("missing", path=f"{OBEYED}{FORGED}.bin")
    project.case("elsewhere", path=f"link/{TURNED}{FORGED}")
    project.case("long", path="x" * 5000)
    (project.path / "link").symlink_to("/etc")
    project.write()
    lines = shown(project.run("cases.jsonl", f"--bench-verify={verify}"))
    assert max(map(len, lines)) < 600


def test_a_case_id_that_turns_the_line_round_is_shown_escaped(project):
    project.case(f"cat{TURNED}<b>|`x`", says="not_detected")
    project.write()
    result = project.run("cases.jsonl", "-v", "-rA", "--junitxml=junit.xml")
    assert result.ret == 1
    assert any(r"cases.jsonl:1: cat\u202e<b>|`x`: expected detected" in line for line in shown(result))
    assert project.evidence[0]["key"]["case_id"] == f"cat{TURNED}<b>|`x`"


HOSTILE_ANSWER = """
    from pytest_benchbench import Adapter, AdapterDescription, Detection

    class Rude(Adapter):
        name = "rude"
        media_types = frozenset({"image"})
        needs = "bytes"

        def detect(self, sample):
            text = "\\x1b[31m\\u202e</pre><script>alert(1)</script>\\ncases.jsonl:1: valid | `x` ]]>"
            if b"raise" in sample.data:
                raise type(text.replace("\\n", ""), (Exception,), {})(text.replace("\\n", ""))
            return Detection("not_detected", label=text, reason=text)

        def describe(self):
            return AdapterDescription("1 <b>\\n\\x1b[31m", "rule <img src=x>\\n| a |")

    def pytest_benchbench_adapters(registry):
        registry.register(Rude)
"""


def test_what_a_detector_says_is_markup_nowhere(project):
    project.pytester.makeconftest(HOSTILE_ANSWER)
    project.case("wrong", adapter="rude")
    project.case("broken", says="raise", adapter="rude")
    project.write()
    result = project.run("cases.jsonl", "-v", "-rA", "--junitxml=junit.xml")
    assert result.ret == 1
    told = [line for line in shown(result) if re.match(r"cases\.jsonl:\d", line)]
    assert len(told) == 3  # two failures, and the mismatch of the summary
    report = (project.path / "run" / "report.md").read_text()
    assert not re.search(r"(?<!\\)<(?!br)", report)
    assert report.replace("\n", "").isprintable()
    properties = [node.get("value") for node in ET.parse(project.path / "junit.xml").iter("property")]
    assert any(r"\x1b[31m\u202e</pre><script>" in value for value in properties)
    assert all(value.isprintable() for value in properties)


@pytest.mark.parametrize(
    ("entries", "status"),
    [
        ([{"id": "cat-01", "expected": "detected", "reason": OBEYED + FORGED}], 0),
        ([{"id": OBEYED + FORGED, "expected": "detected", "reason": "r"}], 1),
        ([{"id": OBEYED + FORGED, "expected": "detected", "reason": "r"}] * 2, 4),
        ([{"id": "cat-01", "expected": OBEYED + FORGED, "reason": "r"}], 4),
        ([{"id": "cat-01", "expected": "detected", "reason": "r", OBEYED + FORGED: 1}], 4),
        ([{"id": "x" * 100_000, "expected": "detected", "reason": "r"}], 1),
        ({"x" * 100_000: 1, OBEYED: {FORGED: 1}}, 4),
    ],
    ids=["reason", "unmatched", "twice", "value", "field", "long", "mapping"],
)
def test_a_list_of_known_mismatches_forges_no_line(project, entries, status):
    project.case("cat-01", says="not_detected")
    project.write()
    (project.path / "known.yaml").write_text(json.dumps(entries))
    result = project.run("cases.jsonl", "-rA", "--bench-expectations=known.yaml")
    assert result.ret == status
    assert max(map(len, shown(result))) < 1000


def test_a_policy_forges_no_line(project):
    project.case("cat-01")
    project.write()
    (project.path / "gate.yaml").write_text(json.dumps({"name": "x", "rules": [], OBEYED + FORGED: 1}))
    result = project.run("cases.jsonl", "--bench-gate=gate.yaml")
    assert result.ret == 4
    shown(result)


@pytest.mark.skipif(os.name == "nt", reason="such names are not possible there")
def test_names_of_files_beside_a_manifest_are_shown_escaped(project):
    (project.path / f"d{OBEYED}").mkdir()
    project.case("cat-01", path=f"d{OBEYED}")
    project.write()
    assert any(r"d\x1b]0;title\x07\x1b[31m is a directory" in line for line in shown(project.run("cases.jsonl")))
