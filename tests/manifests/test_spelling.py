"""When two spellings are one name, and when they are not."""

import pytest

from pytest_benchbench.manifests.spelling import spelled_alike


@pytest.mark.parametrize("other", ["raise", "Raise", " RAISE\t", "\uff32AISE"])
def test_case_width_and_white_space_do_not_tell_apart(other):
    assert spelled_alike(other) == spelled_alike("RAISE")


@pytest.mark.parametrize("sign", ["\u200b", "\u200d", "\u202e", "\u00ad", "\ufeff", "\u2060"])
def test_what_nobody_sees_does_not_tell_apart(sign):
    assert spelled_alike(f"RA{sign}ISE") == spelled_alike(f"{sign}RAISE{sign}") == spelled_alike("RAISE")


@pytest.mark.parametrize(("one", "other"), [("RAISE", "RAISE-2"), ("camera 1", "camera1"), ("a", "\u00e4")])
def test_other_names_are_others(one, other):
    assert spelled_alike(one) != spelled_alike(other)


def test_composed_letters_do_not_tell_apart():
    assert spelled_alike("caf\u00e9") == spelled_alike("CAFE\u0301")
