import numpy as np
import pytest

from pytest_benchbench.artifacts.image import ImageTraits
from pytest_benchbench.validation.image_measures import ImageMeasure
from pytest_benchbench.validation.shortcuts import MIN_BASES, TELLING, predictability, shortcuts, transform_balance


def sha(number):
    return f"{number:064x}"


def traits(**changes):
    return ImageTraits(**{"format": "JPEG", "size": (640, 480), "metadata": (), "quantisation": "q75", **changes})


@pytest.fixture
def told_of(dataset):
    """The findings about rows, each ``(label, traits, changes)``."""

    def of(rows):
        made = [
            dataset.row(f"r{place:04}", label=label, sha256=sha(place), **changes)
            for place, (label, _, changes) in enumerate(rows)
        ]
        measures = {sha(place): ImageMeasure(one, None) for place, (_, one, _) in enumerate(rows)}
        outcomes = shortcuts(dataset.columns(*made), measures)
        assert all(outcome.severity == "warning" for outcome in outcomes)
        return {outcome.rule: [one.message for one in outcome.kept] for outcome in outcomes if outcome.total}

    return of


def pair(real, ai, number=MIN_BASES, **changes):
    return [(0, real, changes)] * number + [(1, ai, changes)] * number


TELLTALE = {
    "format": (traits(format="PNG", quantisation=None), {"shortcut-format"}),
    "metadata": (traits(metadata=("exif",)), {"shortcut-metadata"}),
    "quantisation": (traits(quantisation="q90"), {"shortcut-quantisation"}),
    "dimensions": (traits(size=(480, 640)), {"shortcut-dimensions"}),
    "pixels": (traits(size=(1024, 1024)), {"shortcut-dimensions", "shortcut-pixels"}),
}


@pytest.mark.parametrize("name", TELLTALE)
def test_a_property_of_one_class_alone_is_told_with_the_number(told_of, name):
    telltale, rules = TELLTALE[name]
    told = told_of(pair(traits(), telltale))
    assert set(told) == rules
    assert told[f"shortcut-{name}"] == [
        f"in test, transform 'none', {name} alone tells real from AI: balanced accuracy 1.000, 99% interval "
        "0.872 to 1.000, n = 30 real and 30 AI bases"
    ]


@pytest.mark.parametrize("name", TELLTALE)
def test_nothing_is_said_where_both_classes_have_it(told_of, name):
    telltale, _ = TELLTALE[name]
    mixed = [(label, one, {}) for label in (0, 1) for one in (traits(), telltale) for _ in range(MIN_BASES)]
    assert told_of(mixed) == {}


def test_one_base_less_is_too_few_to_say_anything(told_of):
    real, ai = traits(), traits(format="PNG", quantisation=None)
    assert told_of(pair(real, ai)) != {}
    assert told_of(pair(real, ai)[1:]) == {}
    assert told_of(pair(real, ai)[:-1]) == {}


def test_sizes_that_are_all_different_still_tell_by_a_limit(told_of):
    rows = [(0, traits(size=(2000 + place, 1500)), {}) for place in range(40)]
    rows += [(1, traits(size=(500 + place, 500)), {}) for place in range(40)]
    assert set(told_of(rows)) == {"shortcut-pixels"}


def test_derivatives_neither_hide_a_shortcut_nor_count(told_of):
    real, ai = pair(traits(), traits(format="PNG", quantisation=None))[::MIN_BASES]
    originals = [(label, one, {"baseId": f"{label}-{place}"}) for label, one, _ in (real, ai) for place in range(MIN_BASES)]
    derived = [
        (label, traits(), {**changes, "transform": f"jpeg-{quality}"})
        for label, _, changes in originals
        for quality in (30, 50, 75, 95)
    ]
    told = told_of(originals + derived)
    assert list(told) == ["shortcut-format"]
    assert told["shortcut-format"][0].endswith("n = 30 real and 30 AI bases")
    again = [(label, one, {**changes, "resolutionGroup": "thumbnail"}) for label, one, changes in originals]
    assert told_of(originals + derived + again) == told
    assert told_of(originals[1:] + [originals[1]] * 5) == {}


def test_each_split_is_looked_at_by_itself(told_of):
    real, ai = traits(), traits(format="PNG", quantisation=None)
    told = told_of(pair(real, ai, split="train") + pair(ai, ai, split="test") + pair(ai, real, split="calibration"))
    assert [message.split(",")[0] for message in told["shortcut-format"]] == ["in train", "in calibration"]


def test_chance_is_rarely_taken_for_a_shortcut(told_of):
    rng = np.random.default_rng(20261130)
    choices = [
        traits(format=made, size=(width, 480), metadata=kinds, quantisation=table)
        for made, width, kinds, table in zip(
            rng.choice(["PNG", "JPEG", "WEBP"], 4000),
            rng.integers(500, 700, 4000),
            [[(), ("exif",), ("exif", "icc")][kind] for kind in rng.integers(0, 3, 4000)],
            rng.choice(["a", "b", "c"], 4000),
            strict=True,
        )
    ]
    told = 0
    for trial in range(40):
        of_trial = choices[trial * 100 : trial * 100 + 100]
        told += len(told_of([(place % 2, one, {}) for place, one in enumerate(of_trial)]))
    assert told == 0


@pytest.mark.parametrize(
    ("counts", "balanced"), [((30, 30, 30, 30), 1.0), ((0, 30, 30, 30), 0.5), ((300, 500, 400, 500), 0.7)]
)
def test_the_interval_holds_the_balanced_accuracy(counts, balanced):
    told = predictability(*counts)
    assert told.balanced_accuracy == pytest.approx(balanced)
    assert 0 <= told.low <= told.balanced_accuracy <= told.high <= 1


def test_the_interval_covers_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(1)
    draws = zip(rng.binomial(60, 0.8, 3000), rng.binomial(40, 0.6, 3000), strict=True)
    covered = sum(
        told.low <= 0.7 <= told.high for told in (predictability(int(one), 60, int(other), 40) for one, other in draws)
    )
    assert 0.98 <= covered / 3000 <= 1


def transforms(dataset, having_ai, having_real=100, number=100):
    """Originals of both classes, some of which have a JPEG."""
    rows = []
    for label, having in ((0, having_real), (1, having_ai)):
        rows += [dataset.row(f"{label}-{place}", label=label) for place in range(number)]
        rows += [
            dataset.row(f"{label}-{place}-jpeg", label=label, baseId=f"{label}-{place}", transform="jpeg-75")
            for place in range(having)
        ]
    return transform_balance(dataset.columns(*rows))


def test_a_transform_of_one_class_alone_is_told(dataset):
    outcome = transforms(dataset, 0)
    assert (outcome.rule, outcome.total) == ("transform-label", 1)
    assert outcome.kept[0].message.startswith(
        "in test, 100 of 100 real bases and 0 of 100 AI bases have the transform 'jpeg-75', which alone tells real from AI: "
        "balanced accuracy 1.000, "
    )


def test_a_transform_of_both_classes_is_none(dataset):
    assert transforms(dataset, 100).total == 0


def test_one_base_decides_about_a_transform(dataset):
    most = max(having for having in range(101) if predictability(100, 100, 100 - having, 100).low >= TELLING)
    assert 50 < most < 80
    assert transforms(dataset, most).total == 1
    assert transforms(dataset, most + 1).total == 0


def test_transforms_of_few_bases_are_not_judged(dataset):
    assert transforms(dataset, 0, MIN_BASES, MIN_BASES).total == 1
    assert transforms(dataset, 0, MIN_BASES - 1, MIN_BASES - 1).total == 0


def test_the_order_of_rows_changes_nothing(dataset):
    rng = np.random.default_rng(4)
    rows = [
        dataset.row(f"r{place:03}", label=place % 2, sha256=sha(place), baseId=f"b{place // 2 * 2 + place % 2}-{place % 5}")
        for place in range(200)
    ]
    measures = {
        sha(place): ImageMeasure(traits(size=(500 + 90 * (place % 2) + int(rng.integers(0, 100)), 400)), None)
        for place in range(200)
    }
    told = [shortcuts(dataset.columns(*some), measures) for some in (rows, rows[::-1], rng.permutation(rows).tolist())]
    assert told[0] == told[1] == told[2]
    assert sum(outcome.total for outcome in told[0]) > 0
