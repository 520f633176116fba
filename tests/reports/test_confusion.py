"""What was expected against what was observed."""

from collections import Counter

from hypothesis import HealthCheck, given, settings, strategies as st

SERIES = ("suite", "params", "adapter")

cases = st.lists(
    st.fixed_dictionaries(
        {
            "adapter": st.sampled_from(["dwt-dct", "rivagan"]),
            "params": st.sampled_from([None, "q75"]),
            "status": st.sampled_from(["detected", "not_detected", "scored", "error", "unavailable"]),
            "expected": st.sampled_from(["detected", "not_detected", "unresolved"]),
            "known": st.booleans(),
        }
    ),
    max_size=25,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(drawn=cases)
def test_rows_with_an_asserted_verdict_are_counted_once(row, report, drawn):
    lines = report([row(f"c{number}", **one) for number, one in enumerate(drawn)])["results"]["confusion"]
    expected = Counter()
    for one in drawn:
        if one["expected"] != "unresolved":
            observed = one["status"] if one["status"] in ("detected", "not_detected") else "no_verdict"
            expected[one["adapter"], one["params"], one["expected"], observed] += 1
    found = Counter(
        {
            (line["adapter"], line["params"], line["expected"], observed): line[observed]
            for line in lines
            for observed in ("detected", "not_detected", "no_verdict")
        }
    )
    assert +found == expected
    keys = [(line["suite"], line["params"] or "", line["adapter"], line["expected"]) for line in lines]
    assert keys == sorted(set(keys))


def test_attempts_that_disagree_are_no_verdict(row, report):
    rows = [row("a", expected="detected"), row("a", expected="detected", attempt=2, status="not_detected")]
    (line,) = report(rows)["results"]["confusion"]
    assert (line["detected"], line["not_detected"], line["no_verdict"]) == (0, 0, 1)


def test_a_list_of_known_mismatches_may_assert_what_the_case_leaves_open(row, report):
    rows = [
        row("a", status="not_detected", outcome="known_mismatch"),
        row("b", status="detected", outcome="match"),
        row("c", status="not_detected"),
    ]
    (line,) = report(rows)["results"]["confusion"]
    assert (line["expected"], line["detected"], line["not_detected"], line["no_verdict"]) == ("detected", 1, 1, 0)
