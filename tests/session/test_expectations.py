"""The list of known wrong answers."""

import pytest

from pytest_benchbench.session.expectations import Expectations, ExpectationsError, KnownMismatch
from pytest_benchbench.session.node_names import CaseNode


def read(tmp_path, text):
    path = tmp_path / "known.yaml"
    path.write_text(text)
    return Expectations.read(path)


def test_an_entry_concerns_a_row_by_id_and_by_what_else_it_names(tmp_path):
    known = read(tmp_path, "- {id: a, adapter: x, suite: test_s, params: p, expected: detected, reason: r}")
    assert known.find(CaseNode("f.py::test_s", "x", "a", "p")) is not None
    assert known.find(CaseNode("f.py::test_t", "x", "a", "p")) is None
    assert known.find(CaseNode("f.py::test_s", "y", "a", "p")) is None
    assert known.find(CaseNode("f.py::test_s", "x", "a", None)) is None
    assert known.find(CaseNode("f.py::test_s", "x", "b", "p")) is None


def test_a_suite_may_be_named_by_its_node_id():
    entry = KnownMismatch("a", "detected", "r", suite="f.py::test_s")
    assert entry.concerns(suite="f.py::test_s", adapter="x", params=None)
    assert not entry.concerns(suite="g.py::test_s", adapter="x", params=None)


def test_an_empty_file_lists_nothing(tmp_path):
    assert len(read(tmp_path, "")) == 0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("- {id: a, expected: unresolved, reason: r}", "expected"),
        ("- {id: a, expected: detected}", "reason"),
        ("- {id: a, expected: detected, reason: r, mood: bad}", "mood"),
        ("id: a", "list"),
        ("- {id: a, expected: detected, reason: r}\n- {id: a, expected: detected, reason: s}", "listed twice"),
        ("- {id: a, id: b, expected: detected, reason: r}", "stands twice"),
        ("- &x {id: a, expected: detected, reason: r}\n- *x", "aliases"),
        ("- !!python/object/apply:os.system [true]", "python/object"),
        ("[[[[", "known.yaml:"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_one_line(tmp_path, text, says):
    with pytest.raises(ExpectationsError, match=says) as caught:
        read(tmp_path, text)
    assert "\n" not in str(caught.value)


def test_entries_that_match_no_row_are_named(tmp_path):
    known = read(
        tmp_path,
        "- {id: a, expected: detected, reason: r}\n- {id: b, adapter: x, expected: detected, reason: r}\n"
        "- {id: c, expected: detected, reason: r}",
    )
    assert known.unmatched([("a", "x"), ("b", "y")]) == ["b", "c"]


def test_entries_about_a_known_adapter_without_any_row_are_passed_over(tmp_path):
    known = read(
        tmp_path,
        "- {id: a, adapter: absent, expected: detected, reason: r}\n"
        "- {id: a, adapter: typo, expected: detected, reason: r}\n"
        "- {id: b, adapter: present, expected: detected, reason: r}",
    )
    assert known.unmatched([("a", "present")], ["absent", "present"]) == ["a", "b"]
