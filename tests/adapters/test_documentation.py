"""The adapters that ``docs/adapters.md`` shows do what it says."""

import re
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from pytest_benchbench import Adapter, DetectionError, Image, Sample, Text
from pytest_benchbench.adapters.patterns import PATTERNS
from pytest_benchbench.adapters.registry import AdapterRegistry

PAGE = (Path(__file__).parents[2] / "docs" / "adapters.md").read_text(encoding="utf-8")


def shown(name: str) -> dict:
    """Run the example that contains ``name``."""
    (block,) = (block for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if name in block)
    namespace: dict = {"__name__": "shown"}
    exec(compile(block, "docs/adapters.md", "exec"), namespace)
    return namespace


def example(name: str) -> Adapter:
    adapter = shown(f"class {name}(")[name]()
    AdapterRegistry().register(type(adapter))
    adapter.load()
    assert adapter.describe().rule
    return adapter


def picture(*colour: int) -> Sample:
    return Sample("image", "0" * 64, b"", Image(np.full((4, 4, 3), colour, np.uint8), {}, None))


def text(words: str) -> Sample:
    return Sample("text", "0" * 64, words.encode(), Text(words, {}))


def test_decoded_media():
    adapter = example("BlueCast")
    assert adapter.detect(picture(90, 90, 180)).status == "detected"
    assert adapter.detect(picture(90, 90, 90)).reason == "blue at 1.00 of the rest"


def test_file_bytes():
    adapter = example("C2paBox")
    assert [adapter.detect(Sample("image", "0" * 64, data)).status for data in (b"..c2pa", b"")] == [
        "detected",
        "not_detected",
    ]


def test_text():
    adapter = example("Repetition")
    assert adapter.detect(text("a rose is a rose is a rose")).score == pytest.approx(5 / 8)
    assert adapter.detect(text("a rose")).status == "too-small"


def test_batches():
    answers = example("Remote").detect_batch([Sample("image", "0" * 64, data) for data in (b"abc", b"")])
    assert answers[0].scorer == {"bytes": 3}
    assert isinstance(answers[1], DetectionError)


def test_registration_in_a_conftest(monkeypatch):
    module = types.ModuleType("my_detectors")
    module.BlueCast = type(example("BlueCast"))
    monkeypatch.setitem(sys.modules, "my_detectors", module)
    registry = AdapterRegistry()
    shown("def pytest_benchbench_adapters")["pytest_benchbench_adapters"](registry)
    assert registry.resolve("blue-cast") is module.BlueCast


@pytest.mark.parametrize("name", ["sdxl", "flux2"])
def test_the_messages_on_the_page_are_those_of_the_code(name):
    assert f"| `{name}` | `{''.join(map(str, PATTERNS[name].bits))}` |" in PAGE
