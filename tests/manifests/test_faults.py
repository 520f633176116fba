from pytest_benchbench.manifests.faults import Fault, FaultLog, ManifestError, shown, shown_key


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
