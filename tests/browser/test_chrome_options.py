"""What is refused of the adapter's options before any browser is started."""

from pathlib import Path

import pytest

from pytest_benchbench.adapters.pool import AdapterChoice, AdapterOptionError
from pytest_benchbench.browser.chrome import Chrome

PUPPET = Path(__file__).parent / "puppet"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"extension": "PUPPET"}, "give one of port="),
        ({"launch": "chromium", "port": "1", "extension": "PUPPET"}, "give one of port="),
        ({"launch": "chromium"}, "give extension="),
        ({"launch": "chromium", "extension": "nowhere"}, "it has no manifest.json"),
        ({"launch": "chromium", "extension": "PUPPET", "wave": "61"}, "wave=61: expected a whole number from 1 to 60"),
        ({"launch": "chromium", "extension": "PUPPET", "wave": "0"}, "wave"),
        ({"launch": "chromium", "extension": "PUPPET", "warm": "true"}, "warm=true belongs to port="),
        ({"launch": "chromium", "extension": "PUPPET", "profile": "none.yaml"}, "none.yaml: cannot be read"),
        (
            {"launch": "chromium", "extension": "PUPPET", "expect_runtime": "gpu"},
            "expect_runtime=gpu: expected one of wasm, webgpu",
        ),
        ({"launch": "chromium", "extension": "PUPPET", "speed": "9"}, "unknown option 'speed'"),
        ({"launch": "chromium", "extension": "PUPPET", "timeout": "0"}, "timeout=0: expected a number above 0 up to 3600"),
        ({"port": "9226", "extension": "PUPPET", "net_log": "x"}, "net_log= belongs to launch="),
        ({"port": "0", "extension": "PUPPET"}, "port=0: expected a whole number from 1 to 65535"),
    ],
)
def test_options_that_make_no_sense_are_refused_before_anything_runs(given, told, tmp_path):
    values = {name: str(PUPPET) if value == "PUPPET" else value for name, value in given.items()}
    with pytest.raises(AdapterOptionError, match=told):
        AdapterChoice("chrome", "chrome", values).options_for(Chrome, directory=tmp_path)
