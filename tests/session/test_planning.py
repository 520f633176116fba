"""What is known of a plan without importing what detects."""

import subprocess
import sys

import pytest

from pytest_benchbench.adapters.base import AdapterUnavailable
from pytest_benchbench.adapters.registry import installed_registry
from pytest_benchbench.manifests.watermark import KERNEL_MEDIA_TYPES


@pytest.mark.parametrize("name", sorted(KERNEL_MEDIA_TYPES))
def test_no_adapter_of_the_kernel_is_exclusive(name):
    try:
        adapter = installed_registry().resolve(name)
    except AdapterUnavailable:
        pytest.skip(f"{name} cannot be imported here")
    assert not adapter.exclusive


def test_the_process_that_only_takes_what_workers_send_imports_nothing_that_decodes():
    script = (
        "import sys, pytest_benchbench.session.planning, pytest_benchbench.session.recorder\n"
        "import pytest_benchbench.session.distribution\n"
        "print(sorted({'numpy', 'PIL', 'av', 'scipy', 'soundfile'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120)
    assert found.stdout.strip() == "[]"
