from hypothesis import given, strategies as st

from pytest_benchbench.manifests.faults import MAX_TEXT_SHOWN, Fault, FaultLog, ManifestError, shown, shown_key, shown_text


def test_a_fault_is_one_line_with_file_line_and_field():
    assert str(Fault("cases.jsonl", 17, "sha256", "expected 64")) == "cases.jsonl:17: sha256: expected 64"
    assert str(Fault("cases.jsonl", 17, None, "blank line")) == "cases.jsonl:17: blank line"
    assert str(Fault("cases.jsonl", None, None, "empty")) == "cases.jsonl: empty"


def test_twenty_faults_are_kept_and_the_others_counted():
    log = FaultLog("cases.jsonl")
    for line in range(1, 23):
        log.add(line, None, "blank line")
    text = str(ManifestError(tuple(log.kept), log.total)).split("\n")
    assert (len(text), text[-1]) == (21, "... and 2 more faults")


def test_values_are_shown_on_one_short_printable_line():
    for value in ("a\nb", "x" * 1000, "\x1b[31m", "\ud800", {"a": 1}, [1], None, 1e300, 10**400, "\u202e"):
        text = shown(value)
        assert text.isprintable()
        assert len(text) <= 60


def test_a_plain_key_is_shown_as_it_is_and_another_quoted():
    assert (shown_key("seed"), shown_key(""), shown_key("a\n")) == ("seed", "''", "'a\\n'")


@given(st.text(max_size=40))
def test_a_text_is_shown_as_it_is_unless_a_terminal_would_obey_it(text):
    line = shown_text(text)
    assert line.isprintable()
    assert not text.isprintable() or line == text


def test_a_long_text_is_cut():
    assert shown_text("x" * MAX_TEXT_SHOWN) == "x" * MAX_TEXT_SHOWN
    assert shown_text("x" * 1000) == "x" * (MAX_TEXT_SHOWN - 3) + "..."
