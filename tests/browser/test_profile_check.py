"""What a browser says of the selectors and expressions of a profile before anything is shown."""

import pytest

from pytest_benchbench.browser.errors import CheckFailed
from pytest_benchbench.browser.profile import LoadedProfile, parse_profile
from pytest_benchbench.browser.profile_check import check_syntax

WHOLE = """
schema_version: 1
type: extension-profile
files: {model: {path: m.onnx, sha256: %s}}
setup:
  - open: setup.html
  - put_file: {selector: "#file", file: model}
  - fill: {selector: "#word", value: "x"}
  - click: "#go"
  - wait: {selector: "#state"}
ready: {selector: "html:not(.off)"}
failure: {selector: "p > b"}
sources:
  badge: {selector: "b.badge", text: true}
  memory: {expression: "answers[image.src] // where it keeps them"}
fields: {score: badge}
""" % ("a" * 64)


@pytest.fixture
def check(endpoint, tmp_path):
    """``check(text)``: have the browser read a profile."""

    def run(text):
        check_syntax(endpoint.open_tab(), LoadedProfile(parse_profile(text.encode(), name="p"), tmp_path / "p.yaml", "0"))

    return run


def test_what_a_browser_can_read_is_let_through_and_not_run(check):
    check(WHOLE)
    check(WHOLE.replace("answers[image.src]", "(() => { for (;;); })()"))


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ('selector: "#file"', 'selector: "#file["', "p.yaml: setup[1].put_file.selector: '#file[' is no CSS selector: "),
        ('selector: "#word"', 'selector: "a b >"', "p.yaml: setup[2].fill.selector: 'a b >' is no CSS selector: "),
        ('click: "#go"', 'click: "##"', "p.yaml: setup[3].click: '##' is no CSS selector: "),
        (
            'selector: "#state"',
            'selector: "p:no-such()"',
            "p.yaml: setup[4].wait.selector: 'p:no-such()' is no CSS selector: ",
        ),
        ("html:not(.off)", "1", "p.yaml: ready.selector: '1' is no CSS selector: "),
        ("p > b", "(b)", "p.yaml: failure.selector: '(b)' is no CSS selector: "),
        ("b.badge", "b..badge", "p.yaml: sources.badge.selector: 'b..badge' is no CSS selector: "),
        (
            "answers[image.src] // where it",
            "answers[",
            "p.yaml: sources.memory.expression: 'answers[ keeps them' is no expression: ",
        ),
        (
            "answers[image.src]",
            "a; b",
            "p.yaml: sources.memory.expression: 'a; b // where it keeps them' is no expression: ",
        ),
    ],
)
def test_what_it_cannot_read_is_named_by_file_field_and_value(check, right, wrong, told):
    assert WHOLE.count(right) == 1
    with pytest.raises(CheckFailed) as caught:
        check(WHOLE.replace(right, wrong))
    assert str(caught.value).startswith(told)
