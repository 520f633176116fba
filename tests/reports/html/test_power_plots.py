import xml.etree.ElementTree as ElementTree

import pytest

from pytest_benchbench.gates.policy import load_policy
from pytest_benchbench.gates.prospects import Bases, ErrorRates
from pytest_benchbench.reports.html.power_plots import power_svg
from pytest_benchbench.reports.power_document import power_document

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def document():
    return power_document(load_policy("release"), Bases(500, 500, 3, 3), ErrorRates(0.005, 0.1), 1)


def test_both_curves_of_both_classes_are_drawn(document):
    root = ElementTree.fromstring(power_svg(document))
    lines = root.findall(f"{SVG}polyline")
    assert len(lines) == 4
    points = document["characteristic"]
    assert [len(line.get("points").split()) for line in lines] == [
        len(points[name]) for name in ("false_positive", "false_positive", "miss", "miss")
    ]


def test_the_file_carries_its_style_and_says_what_it_shows(document):
    root = ElementTree.fromstring(power_svg(document))
    assert root.find(f"{SVG}title").text == "Chance to pass: Policy release, 500 real and 500 AI bases"
    assert "0.005: 0.7578" in root.find(f"{SVG}desc").text
    assert "--ink: #1b1f24" in root.find(f"{SVG}style").text


def test_it_asks_nothing_of_a_network(document):
    svg = power_svg(document)
    assert "url(" not in svg
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")


def test_a_policy_that_cannot_be_passed_is_drawn_too():
    document = power_document(load_policy("release"), Bases(10, 10, 1, 1), ErrorRates(0.0, 0.0), 1)
    ElementTree.fromstring(power_svg(document))
