import pytest

from pytest_benchbench.reports.facets import CaseField, field_value

CASE = {"state": "marked", "transform": {"name": "jpeg-90", "parameters": {"embed": {"pattern": "sdxl"}, "strength": 75.0}}}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("state", "marked"),
        ("transform.parameters.strength", 75),
        ("transform.parameters.absent.deeper", None),
        ("state,transform.parameters.embed.pattern", ["marked", "sdxl"]),
        ("state,transform.parameters.carrier", ["marked", None]),
        ("absent,none", None),
        ("transform.parameters.strength,state", [75, "marked"]),
    ],
)
def test_a_field_or_several_together_have_a_value(path, value):
    assert field_value(CaseField(path).of(CASE)) == value


@pytest.mark.parametrize("path", ["", "state,", ",state", "state,transform..name", "."])
def test_an_empty_name_is_no_field(path):
    with pytest.raises(ValueError, match="is no field"):
        CaseField(path)
