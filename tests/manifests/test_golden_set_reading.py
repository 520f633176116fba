"""Golden sets: any document either reads back equal, or is refused with the place and never with a text."""

import copy
import hashlib
import json

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

from pytest_benchbench.manifests.faults import ManifestError
from pytest_benchbench.manifests.golden_set import GoldenSet
from pytest_benchbench.manifests.golden_set_reading import parse_golden_set, read_golden_set


def outcome(written):
    """What was read, and the faults for which nothing was."""
    try:
        return parse_golden_set(written, "golden.json").golden_set, ()
    except ManifestError as refused:
        return None, refused.faults


SEEN = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=12)


def faults(document):
    data = document if isinstance(document, bytes) else json.dumps(document, indent=1).encode()
    with pytest.raises(ManifestError) as caught:
        parse_golden_set(data, "golden.json")
    return str(caught.value).split("\n")


@given(names=st.lists(SEEN, min_size=1, max_size=4, unique=True), text=SEEN, category=SEEN, data=st.data())
def test_what_is_valid_reads_back_equal(golden, sample, names, text, category, data):
    splits, labels = st.sampled_from(["tune", "holdout"]), st.sampled_from(["ai", "human"])
    changes = st.fixed_dictionaries({"split": splits, "label": labels, "borderline": st.booleans()})
    samples = [sample(id=name, text=text + name, category=category, **data.draw(changes)) for name in names]
    document = golden(*samples, balance={category: {"tune": 1, "holdout": 2}})
    indent, ascii_only = data.draw(st.sampled_from([None, 2])), data.draw(st.booleans())
    written = json.dumps(document, indent=indent, ensure_ascii=ascii_only).encode()
    read = parse_golden_set(written, "golden.json")
    assert msgspec.to_builtins(read.golden_set) == document
    assert read.sha256 == hashlib.sha256(written).hexdigest()
    for place, one in zip(read.places, samples, strict=True):
        assert json.loads(written[place.begin : place.end]) == one
        assert place.line == written[: place.begin].count(b"\n") + 1


JUNK = st.none() | st.booleans() | st.integers() | st.just(1.0) | st.just("") | st.just("\x07") | st.just([]) | st.just({})


@settings(max_examples=200)
@given(st.data())
def test_any_change_reads_back_equal_or_is_refused_with_a_place(golden, sample, data):
    document = golden(sample(), sample(label="human"), sample(id="ai-02", pairOf="ai-01"))
    place = document
    for _ in range(data.draw(st.integers(1, 4))):  # walk into the document, and change what is there
        keys = list(place) if isinstance(place, dict) else range(len(place))
        key = data.draw(st.sampled_from(list(keys)))
        if not isinstance(place[key], (dict, list)) or not place[key]:
            break
        last, place = (place, key), place[key]
    holder, key = (place, key) if key in (place if isinstance(place, dict) else range(len(place))) else last
    if data.draw(st.booleans()) and isinstance(holder, dict):
        del holder[key]
    else:
        holder[key] = data.draw(JUNK)
    written = json.dumps(document).encode()
    read, refused = outcome(written)
    assert (read is None) == bool(refused)
    assert all(fault.line == 1 and fault.message for fault in refused)
    assert "harbour lay quiet" not in "".join(map(str, refused))
    if read is not None:
        assert msgspec.json.decode(msgspec.json.encode(read), type=GoldenSet) == read
        assert msgspec.to_builtins(read).keys() <= document.keys()


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("split", "test", "split: expected tune or holdout, got 'test'"),
        ("label", "real", "label: expected ai or human, got 'real'"),
        ("text", " \n", "text: expected a text that is not blank"),
        ("text", 3, "text: expected a text that is not blank"),
        ("category", "", "category: expected a text that is not blank, got ''"),
        ("borderline", "no", "borderline: expected true or false, got 'no'"),
        ("reviewers", ["A", " "], "reviewers: expected an array of texts that are not blank, got an array"),
        ("provenance", 3, "provenance: expected an object, got 3"),
        ("id", "a\tb", "id: expected a text of 1 to 200 characters without control characters, got 'a\\tb'"),
        ("Text", "x", "Text: unknown field"),
    ],
)
def test_a_field_at_fault(golden, sample, field, value, said):
    (fault,) = faults(golden(sample(**{field: value})))
    assert fault.startswith("golden.json:")
    assert fault.endswith(f": {said}")


@pytest.mark.parametrize(
    ("label", "changes", "said"),
    [
        ("ai", {"kind": "human"}, "provenance.source: missing"),
        ("ai", {"kind": "robot"}, "provenance.kind: expected human or ai, got 'robot'"),
        ("ai", {"kind": None}, "provenance.kind: expected human or ai, got null"),
        ("ai", {"date": "2026"}, "provenance.date: expected a date as YYYY-MM-DD, got '2026'"),
        ("ai", {"date": "2026-02-30"}, "provenance.date: expected a date as YYYY-MM-DD, got '2026-02-30'"),
        ("human", {"date": "2026-13"}, "provenance.date: expected a date as YYYY-MM-DD, YYYY-MM or YYYY, got '2026-13'"),
        ("human", {"date": "20260101"}, "provenance.date: expected a date as YYYY-MM-DD, YYYY-MM or YYYY, got '20260101'"),
        ("human", {"termsChecked": "2026"}, "provenance.termsChecked: expected a date as YYYY-MM-DD, got '2026'"),
        ("human", {"licence": "CC0-1.0"}, "provenance.licence: unknown field"),
    ],
)
def test_an_origin_at_fault(golden, sample, label, changes, said):
    one = sample(label=label)
    one["provenance"] |= changes
    assert f"golden.json:10: {label}-01: {said}" in faults(golden(one))


@pytest.mark.parametrize("date", ["1813", "1813-01", "1813-01-28"])
def test_a_publication_may_be_dated_by_its_year_or_month(golden, sample, date):
    one = sample(label="human")
    one["provenance"]["date"] = date
    parse_golden_set(json.dumps(golden(one)).encode(), "golden.json")


def test_a_label_that_its_origin_contradicts(golden, sample):
    one = sample(label="human") | {"label": "ai"}
    assert faults(golden(one)) == ["golden.json:10: human-01: provenance.kind: human, and the label is ai"]


@pytest.mark.parametrize(
    ("original", "variant", "said"),
    [
        ({}, {"pairOf": "ai-09"}, "'ai-09' is no sample of the set"),
        ({}, {"pairOf": "ai-02"}, "'ai-02' is the sample itself"),
        ({"split": "tune"}, {"pairOf": "ai-01"}, "'ai-01' is of the split tune: a pair stays in one split"),
        (
            {"label": "human"},
            {"pairOf": "human-01"},
            "'human-01' and its humanized variant must both have the label ai",
        ),
        ({"pairOf": "ai-02"}, {"pairOf": "ai-01"}, "'ai-01' is a humanized variant itself: name the original"),
    ],
)
def test_a_pair_that_is_none(golden, sample, original, variant, said):
    found = faults(golden(sample(**original), sample(id="ai-02", **variant)))
    assert next(fault for fault in found if ": ai-02: pairOf: " in fault).endswith(f"pairOf: {said}")


def test_ids_that_stand_twice_and_labels_of_two_owners(golden, sample):
    found = faults(golden(sample(), sample(), sample(id="ai-02", labelOwner="B. Owner")))
    assert found == [
        "golden.json:29: ai-01: id: 'ai-01' stands already in golden.json:10",
        "golden.json:48: ai-02: labelOwner: 'B. Owner', but 'A. Owner' in golden.json:10: one person answers for all",
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema_version": 2}, "2: schema_version: expected the integer 1, got 2"),
        ({"status": "draft"}, "5: status: expected final or example, got 'draft'"),
        ({"licenses": [""]}, "6: licenses: expected an array of texts that are not blank, got an array"),
        ({"samples": []}, "1: samples: empty: a golden set has at least one sample"),
        ({"samples": {}}, "9: samples: expected an array that is not empty, got an object"),
        ({"samples": [3]}, "10: samples[0]: expected an object"),
        ({"sampels": 1}, "30: sampels: unknown field"),
        ({"version": None}, "1: version: missing"),
        ({"balance": {"essay": {"tune": 1}}}, "30: balance.essay.holdout: missing"),
        ({"balance": {"essay": 3}}, "30: balance.essay: expected an object, got 3"),
        ({"balance": []}, "30: balance: expected an object or null, got an array"),
    ],
)
def test_the_head_at_fault(golden, sample, change, said):
    assert f"golden.json:{said}" in faults(golden(**({"samples": [sample()]} | change)))


@pytest.mark.parametrize("number", ["1.0", "1e0", "true", "NaN", "1" * 5000])
def test_numbers_are_exact(golden, sample, number):
    written = json.dumps(golden(sample())).replace('"schema_version": 1', f'"schema_version": {number}').encode()
    assert "schema_version" in faults(written)[0]


def test_repeated_names_are_refused_at_every_depth(golden, sample):
    written = json.dumps(golden(sample()), indent=1)
    twice = written.replace('"model": ', '"model": "x", "model": ').replace('"name": ', '"name": "x",\n"name": ')
    found = faults(twice.encode())
    assert "golden.json:4: name: this key stands twice" in found
    assert "golden.json:11: ai-01: provenance.model: this key stands twice" in found


def test_a_text_that_cannot_be_encoded(golden, sample):
    written = json.dumps(golden(sample(text="half \ud83d of a pair"))).encode()
    (fault,) = faults(written)
    assert fault == "golden.json:1: ai-01: text: half of a surrogate pair: the text cannot be encoded"


def test_a_set_that_is_too_large_is_not_parsed(monkeypatch, golden, sample):
    monkeypatch.setattr("pytest_benchbench.manifests.golden_set_reading.MAX_GOLDEN_SET_BYTES", 100)
    assert faults(golden(sample())) == ["golden.json: larger than 64 MiB"]


def test_faults_beyond_the_first_are_counted(golden, sample):
    found = faults(golden(*(sample(id=f"ai-{number}", split="x") for number in range(30))))
    assert (len(found), found[-1]) == (21, "... and 10 more faults")


def test_nothing_that_shows_a_set_shows_a_text(golden, sample):
    read = parse_golden_set(json.dumps(golden(sample())).encode(), "golden.json").golden_set
    assert "harbour" not in repr(read.samples)
    assert "harbour" in copy.copy(read.samples[0]).text


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(ManifestError, match=r"golden\.json: cannot be read: "):
        read_golden_set(tmp_path / "golden.json", display="golden.json")
