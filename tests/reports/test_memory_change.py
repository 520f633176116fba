import pytest

from pytest_benchbench.reports.memory_change import peak_memory

MIB = 2**20


def test_the_largest_processes_are_compared():
    change = peak_memory({"peak_bytes": [90 * MIB, 100 * MIB]}, {"peak_bytes": [150 * MIB]})
    assert change == {
        "old": {"processes": 2, "min_mib": 90, "max_mib": 100},
        "new": {"processes": 1, "min_mib": 150, "max_mib": 150},
        "ratio": 1.5,
    }


@pytest.mark.parametrize("peaks", [None, [], [0], ["1"], [True], {"main": 1}])
def test_where_a_run_does_not_say_it_there_is_no_change(peaks):
    assert peak_memory({"peak_bytes": [MIB]}, {"peak_bytes": peaks}) is None
    assert peak_memory({}, {"peak_bytes": [MIB]}) is None
