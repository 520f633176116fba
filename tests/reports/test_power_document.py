import pytest

from pytest_benchbench.gates.policy import load_policy
from pytest_benchbench.gates.prospects import Bases, ErrorRates, prospect
from pytest_benchbench.reports.power_document import power_document, power_lines

RELEASE = load_policy("release")

GRID_OF_RELEASE = [place / 1000 for place in range(21)]


@pytest.fixture(scope="module")
def document():
    return power_document(RELEASE, Bases(500, 500, 3, 3), ErrorRates(0.0055, 0.1), 1)


def test_the_characteristic_has_round_rates_and_the_one_that_was_given(document):
    rates = [point["rate"] for point in document["characteristic"]["false_positive"]]
    assert rates == sorted([*GRID_OF_RELEASE, 0.0055])


def test_the_characteristic_tells_the_chance_at_each_rate(document):
    for point in document["characteristic"]["false_positive"]:
        found = prospect(RELEASE.policy, Bases(500, 500, 3, 3), ErrorRates(point["rate"], 0.1))
        assert (point["pass_class"], point["pass_all"]) == (found.real, found.probability)


def test_a_rate_far_beyond_does_not_stretch_the_characteristic():
    document = power_document(RELEASE, Bases(500, 500, 3, 3), ErrorRates(0.5, 0.1), 1)
    assert [point["rate"] for point in document["characteristic"]["false_positive"]] == GRID_OF_RELEASE


def test_a_class_that_cannot_pass_has_no_curve():
    document = power_document(RELEASE, Bases(100, 500, 1, 3), ErrorRates(0.005, 0.1), 1)
    points = document["characteristic"]["false_positive"]
    assert [(point["rate"], point["pass_class"]) for point in points] == [(0.0, 0.0), (0.005, 0.0)]
    assert document["tolerable"]["false_positive"] == [None, None, None]


def test_chances_next_to_the_ends_are_not_written_as_certain():
    document = power_document(RELEASE, Bases(500, 500, 3, 3), ErrorRates(0.0001, 0.9), 1)
    text = "\n".join(power_lines(document))
    assert "Chance to pass: below 0.000001 (rules about real bases above 0.999999, about AI bases below 0.000001)." in text
    assert "| ai_recall_lower | AI bases | no number that was tried |" in text


def test_a_number_that_is_demanded_holds_or_not():
    document = power_document(RELEASE, Bases(499, 500, 3, 3), ErrorRates(0.0, 0.0), 1)
    text = "\n".join(power_lines(document))
    assert "| real_bases | - | 499 | - | cannot hold |" in text
    assert "| ai_bases | - | 500 | - | holds |" in text


def test_numbers_that_are_not_enough_for_ever_are_told():
    document = power_document(RELEASE, Bases(500, 500, 3, 3), ErrorRates(0.005, 0.1), 1)
    assert "| false_positives_upper | real bases | 510 | 581, all from 650 | 650, all from 718 |" in "\n".join(
        power_lines(document)
    )
