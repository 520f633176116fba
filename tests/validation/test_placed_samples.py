from pytest_benchbench.validation.finding import MAX_KEPT_OF_RULE, MAX_ROWS_NAMED, Finding, FoundRow
from pytest_benchbench.validation.placed_samples import about, first_groups, outcome


def test_samples_come_by_id_with_the_line_on_which_they_stand(golden_sets):
    placed = golden_sets.placed()
    assert [one.sample.id for one in placed] == ["holdout-ai", "holdout-human", "tune-ai", "tune-human"]
    assert placed[0].row == FoundRow("holdout-ai", 1, "golden.json")


def test_a_finding_names_the_first_samples_and_counts_all(golden_sets):
    placed = golden_sets.placed() * 3
    finding = about("rule", "error", placed, "message")
    assert (len(finding.rows), finding.row_count) == (MAX_ROWS_NAMED, 12)


def test_the_first_findings_are_kept_and_all_are_counted():
    findings = [Finding("rule", "error", (), str(number), 0) for number in range(MAX_KEPT_OF_RULE + 7)]
    found = outcome("rule", "error", findings)
    assert (found.total, found.kept) == (MAX_KEPT_OF_RULE + 7, tuple(findings[:MAX_KEPT_OF_RULE]))


def test_groups_come_by_their_first_id(golden_sets):
    holdout_ai, holdout_human, tune_ai, tune_human = golden_sets.placed()
    assert first_groups([[tune_ai, tune_human], [holdout_ai, holdout_human]])[0][0] is holdout_ai
