import resource
import subprocess
import sys

import pytest

from pytest_benchbench.evidence.environment import peak_bytes

SCRIPT = """
import sys
from pytest_benchbench.evidence.environment import peak_bytes
before = peak_bytes()
held = bytearray(64 * 2**20)
held[::4096] = b"x" * len(held[::4096])
sys.exit(0 if 60 * 2**20 < peak_bytes() - before < 80 * 2**20 else 1)
"""


def test_the_peak_grows_with_what_is_held():
    assert subprocess.run([sys.executable, "-c", SCRIPT], check=False).returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it is that of getrusage itself")
def test_the_peak_is_that_of_getrusage_unless_the_starting_process_was_larger():
    assert 0 < peak_bytes() <= 1.05 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
