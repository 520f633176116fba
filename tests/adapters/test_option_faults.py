from typing import Annotated, Literal

import msgspec
import pytest

from pytest_benchbench.adapters.option_faults import option_fault


class Options(msgspec.Struct, forbid_unknown_fields=True):
    wave: Annotated[int, msgspec.Meta(ge=1, le=60)] = 48
    some: Annotated[int, msgspec.Meta(ge=1)] | None = None
    timeout: Annotated[float, msgspec.Meta(gt=0, le=3600)] = 1.0
    share: Annotated[float, msgspec.Meta(ge=0, lt=1)] = 0.5
    below: Annotated[float, msgspec.Meta(lt=9)] = 0.5
    any: float = 0.0
    warm: bool = False
    runtime: Literal["wasm", "webgpu"] | None = None
    name: Annotated[str, msgspec.Meta(max_length=3)] = ""
    either: int | bool = 0


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("wave", "61", "wave=61: expected a whole number from 1 to 60"),
        ("wave", "0", "wave=0: expected a whole number from 1 to 60"),
        ("wave", "many", "wave=many: expected a whole number from 1 to 60"),
        ("some", "0", "some=0: expected a whole number from 1"),
        ("timeout", "0", "timeout=0: expected a number above 0 up to 3600"),
        ("timeout", "nan", "timeout=nan: expected a number above 0 up to 3600"),
        ("share", "1", "share=1: expected a number from 0 below 1"),
        ("below", "9", "below=9: expected a number below 9"),
        ("any", "x", "any=x: expected a number"),
        ("warm", "perhaps", "warm=perhaps: expected true or false"),
        ("runtime", "gpu\n", "runtime=gpu\\n: expected one of wasm, webgpu"),
        ("name", "long", "name=long: expected str of length <= 3"),
        ("either", "x", "either=x: expected bool | int, got str"),
    ],
)
def test_an_option_is_named_with_what_was_given_and_what_is_expected(name, value, told):
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert({name: value}, Options, strict=False)
    assert option_fault(Options, {name: value}, caught.value) == told


def test_what_is_about_no_single_option_is_told_as_it_is():
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert({"speed": "1"}, Options, strict=False)
    assert option_fault(Options, {"speed": "1"}, caught.value) == "object contains unknown field speed"
    assert option_fault(Options, {}, ValueError("give one of them")) == "give one of them"
