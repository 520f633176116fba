import sys

from pytest_benchbench.validation.finding import TextPlace


def test_personal_data_is_told_by_sample_offset_and_kind(golden_sets):
    text = f"Ask jane@corp.io or 212-736-5000 at once. {golden_sets.text('t')}"
    examination = golden_sets.examine(golden_sets.sample("s", text=text))
    assert not examination.is_valid
    assert [(one.rule, [row.id for row in one.rows], one.place) for one in examination.findings()] == [
        ("pii", ["s"], TextPlace("text", 4, "email")),
        ("pii", ["s"], TextPlace("text", 20, "phone")),
    ]
    assert [one.message for one in examination.findings()] == [
        "text: an e-mail address at character 4: remove it, or put one in its place that is nobody's",
        "text: a telephone number at character 20: remove it, or put one in its place that is nobody's",
    ]


def test_prompts_are_published_too(golden_sets):
    sample = golden_sets.sample("s", label="ai", provenance={"prompt": "Write as jane@corp.io would."})
    (finding,) = golden_sets.examine(sample).findings()
    assert finding.place == TextPlace("provenance.prompt", 9, "email")


def test_a_street_alone_is_a_warning(golden_sets):
    sample = golden_sets.sample("s", text=f"He lived at 221B Baker Street. {golden_sets.text('t')}")
    examination = golden_sets.examine(sample)
    assert examination.is_valid
    assert [(one.rule, one.place) for one in examination.findings()] == [("pii-street", TextPlace("text", 12, "street"))]


def test_a_street_with_a_postal_code_is_an_error(golden_sets):
    sample = golden_sets.sample("s", text=f"742 Evergreen Terrace, Springfield, IL 62704. {golden_sets.text('t')}")
    examination = golden_sets.examine(sample)
    assert not examination.is_valid
    assert [one.place.kind for one in examination.findings()] == ["postal-address", "street"]


def test_without_the_package_the_rule_was_not_checked_and_the_set_is_not_valid(golden_sets, monkeypatch):
    monkeypatch.setitem(sys.modules, "phonenumbers", None)
    examination = golden_sets.examine(golden_sets.sample("s", text=f"Ask jane@corp.io. {golden_sets.text('t')}"))
    assert not examination.is_valid
    assert [one.rule for one in examination.findings()] == ["pii", "pii-not-checked"]


def test_so_many_digits_that_not_all_were_looked_at_are_an_error(golden_sets):
    digits = golden_sets.sample("s", text=f"{golden_sets.text('t')} {'7' * 300_000}")
    examination = golden_sets.examine(digits)
    assert [one.rule for one in examination.findings()] == ["pii-not-checked"]
