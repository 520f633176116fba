from pytest_benchbench.validation.finding import MAX_KEPT_OF_RULE, Finding, FoundRow, RuleOutcome, has_errors, warned


def test_an_error_is_one_line_with_place_rule_message_and_rows():
    finding = Finding("base-split", "error", (FoundRow("a", 3, "x.jsonl"), FoundRow("b", 9, "y.jsonl")), "is split", 4)
    assert str(finding) == "x.jsonl:3: base-split: is split: 'a' (x.jsonl:3), 'b' (y.jsonl:9) and 2 more"


def test_a_warning_about_the_whole_names_the_manifests():
    outcome = warned("test-counts", "one.jsonl, two.jsonl", ["too few"])
    assert str(outcome.kept[0]) == "one.jsonl, two.jsonl: warning: test-counts: too few"
    assert (outcome.severity, outcome.total) == ("warning", 1)


def test_warnings_are_bounded_and_counted():
    outcome = warned("transform-label", "x", [str(number) for number in range(MAX_KEPT_OF_RULE + 1)])
    assert (len(outcome.kept), outcome.total) == (MAX_KEPT_OF_RULE, MAX_KEPT_OF_RULE + 1)


def test_only_errors_make_a_dataset_bad():
    assert not has_errors([RuleOutcome("a", "error", (), 0), warned("b", "x", ["y"])])
    assert has_errors([RuleOutcome("a", "error", (), 1)])
