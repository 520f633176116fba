"""A project without a manifest and without a suite pays for nothing."""

import pytest

HEAVY = ("numpy", "PIL", "msgspec", "yaml", "click", "pytest_benchbench.session.planning", "pytest_benchbench.adapters")


@pytest.fixture
def unit_test(pytester):
    pytester.makepyfile(
        f"""
        import sys

        def test_unit():
            assert [name for name in {HEAVY!r} if name in sys.modules] == []
        """
    )
    return pytester


def test_nothing_heavy_is_imported(unit_test):
    result = unit_test.runpytest_subprocess("-p", "no:randomly", "-p", "no:xdist", "-p", "no:hypothesispytest")
    result.assert_outcomes(passed=1)


def test_nothing_is_said_and_nothing_is_left(unit_test):
    result = unit_test.runpytest_subprocess("-p", "no:randomly", "-p", "no:cacheprovider")
    assert "benchbench:" not in result.stdout.str()
    assert "- benchbench -" not in result.stdout.str()
    assert not (unit_test.path / ".benchbench").exists()


def test_the_options_are_documented_in_the_help(pytester):
    result = pytester.runpytest_subprocess("--help")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*--manifest=PATH*", "*--bench-gate=*"])


def test_the_marker_is_registered(pytester):
    result = pytester.runpytest_subprocess("--markers", "-p", "no:randomly")
    result.stdout.fnmatch_lines(["@pytest.mark.cases(kind, where=None):*"])
