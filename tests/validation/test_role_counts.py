import pytest

from pytest_benchbench.gates.policy import load_policy
from pytest_benchbench.validation import role_counts as roles
from pytest_benchbench.validation.role_counts import RoleCounts, lacking, role_counts, too_few


def counts(split, **changes):
    """Just enough for a role, without a base to spare."""
    real, ai = (100, 100) if split == "calibration" else (500, 500)
    return RoleCounts(
        **{
            "split": split,
            "rows": real + ai,
            "real_bases": real,
            "ai_bases": ai,
            "real_sources": {"a": 50, "b": 25 if split == "calibration" else 50, "c": real - 75},
            "generator_families": {"f": 25, "g": 25, "h": ai - 50},
            "real_by_resolution": {"full-res": 100, "thumbnail": 100},
            "ai_by_resolution": {"full-res": 100, "thumbnail": 100},
            "without_resolution": 0,
            **changes,
        }
    )


@pytest.mark.parametrize("split", ["calibration", "test"])
def test_just_enough_lacks_nothing(split):
    assert lacking(counts(split)) == []


@pytest.mark.parametrize(
    ("split", "changes", "lacks"),
    [
        ("calibration", {"real_bases": 99}, "99 of 100 real bases"),
        ("calibration", {"ai_bases": 99}, "99 of 100 AI bases"),
        ("calibration", {"real_sources": {"a": 50, "b": 50}}, "2 of 3 real sources"),
        ("calibration", {"generator_families": {"a": 50, "b": 50}}, "2 of 3 generator families"),
        ("calibration", {"real_sources": {"a": 24, "b": 50, "c": 50}}, "24 of 25 real bases of source 'a'"),
        (
            "calibration",
            {"generator_families": {"a": 24, "b": 50, "c": 50}},
            "24 of 25 AI bases of generator family 'a'",
        ),
        ("test", {"real_bases": 499}, "499 of 500 real bases"),
        ("test", {"ai_bases": 499}, "499 of 500 AI bases"),
        ("test", {"real_sources": {"a": 250, "b": 250}}, "2 of 3 real sources"),
        ("test", {"generator_families": {"a": 250, "b": 250}}, "2 of 3 generator families"),
        ("test", {"generator_families": {"a": 250, "b": 250, "A ": 250}}, "2 of 3 generator families"),
        ("test", {"real_sources": {"a": 49, "b": 50, "c": 500}}, "49 of 50 real bases of source 'a'"),
        ("test", {"real_by_resolution": {"full-res": 99, "thumbnail": 100}}, "99 of 100 real bases in full-res"),
        ("test", {"real_by_resolution": {"full-res": 100}}, "0 of 100 real bases in thumbnail"),
        ("test", {"ai_by_resolution": {"full-res": 100, "thumbnail": 99}}, "99 of 100 AI bases in thumbnail"),
        ("test", {"without_resolution": 1}, "1 rows without resolutionGroup"),
    ],
)
def test_one_base_less_is_named(split, changes, lacks):
    assert lacking(counts(split, **changes)) == [lacks]


def test_nothing_is_demanded_for_training():
    assert lacking(counts("train", real_bases=0, ai_bases=0, real_sources={})) == []


def test_of_many_small_sources_the_smallest_are_named():
    small = {f"s{number}": number for number in range(1, 7)}
    assert lacking(counts("test", real_sources=small)) == [
        "1 of 50 real bases of source 's1'",
        "2 of 50 real bases of source 's2'",
        "3 of 50 real bases of source 's3'",
        "3 more with fewer than 50 real bases of one source",
    ]


def test_derivatives_count_nothing(dataset):
    rows = [
        dataset.row("a", source="s", resolutionGroup="full-res"),
        dataset.row("a-small", baseId="a", source="s", resolutionGroup="thumbnail"),
        dataset.row("a-jpeg", baseId="a", source="s", transform="jpeg-75"),
        dataset.row("b", source="t"),
        dataset.row("c", label=1, generatorFamily="f"),
        dataset.row("d", split="train"),
    ]
    train, test = role_counts(dataset.columns(*rows))
    assert (train.split, train.rows, train.real_bases) == ("train", 1, 1)
    assert test == RoleCounts(
        split="test",
        rows=5,
        real_bases=2,
        ai_bases=1,
        real_sources={"s": 1, "t": 1},
        generator_families={"f": 1},
        real_by_resolution={"full-res": 1, "thumbnail": 1},
        ai_by_resolution={},
        without_resolution=3,
    )


def test_what_lacks_is_a_warning_of_the_split(dataset):
    columns = dataset.columns(dataset.row("a"), dataset.row("b", split="train"))
    calibration, test = too_few(columns, role_counts(columns))
    assert (calibration.rule, calibration.total) == ("calibration-counts", 0)
    assert (test.rule, test.severity) == ("test-counts", "warning")
    assert test.kept[0].message.startswith("too few for the release gate: 1 of 500 real bases; 0 of 500 AI bases; ")


def test_the_demands_are_those_of_the_release_policy(tmp_path):
    rules = {rule.id: rule for rule in load_policy("release", directory=tmp_path).policy.rules}
    assert rules["real_bases"].value == rules["ai_bases"].value == roles.GATE_BASES
    assert rules["real_sources"].value == rules["generator_families"].value == roles.DOMAINS
    assert rules["source_real"].value == roles.GATE_BASES_OF_SOURCE
    of_groups = [rules[f"{group}_{label}"].value for group in ("full_res", "thumbnail") for label in ("real", "ai")]
    assert of_groups == [roles.GATE_BASES_OF_GROUP] * 4
