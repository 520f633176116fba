"""Addresses that a key must not go to are refused; options name what there is."""

import msgspec
import pytest

from pytest_benchbench.adapters.pool import AdapterChoice, AdapterOptionError
from pytest_benchbench.adapters.remote.copyleaks import Copyleaks
from pytest_benchbench.adapters.remote.gptzero import GptZero
from pytest_benchbench.adapters.remote.options import check_address
from pytest_benchbench.adapters.remote.originality import Originality


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example.org",
        "https://proxy.example.org:8443/gptzero/",
        "https://[2001:db8::1]:8443",
        "http://127.0.0.1:8080",
        "http://localhost",
        "http://[::1]:80",
        "http://127.8.9.10",
    ],
)
def test_https_and_this_machine_are_asked(url):
    check_address(url)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://api.example.org", "over https only"),
        ("http://127.0.0.1.example.org", "over https only"),
        ("http://localhost.example.org", "over https only"),
        ("http://0.0.0.0", "over https only"),
        ("HTTP://10.0.0.1", "over https only"),
        ("ftp://127.0.0.1", "over https only"),
        ("file:///etc/passwd", "expected https://HOST"),
        ("https://", "expected https://HOST"),
        ("api.example.org", "expected https://HOST"),
        ("https://host/?key=canary", "expected https://HOST"),
        ("https://host/#canary", "expected https://HOST"),
        ("https://user:canary@host", "must not hold a user"),
        ("https://host:99999", "this is no address"),
        ("https://[::1", "this is no address"),
        ("https://host/a b", "printable ASCII"),
        ("https://host\r\nX: canary", "printable ASCII"),
        ("https://höst", "printable ASCII"),
    ],
)
def test_others_are_refused_and_not_repeated(url, said):
    with pytest.raises(ValueError, match=r"^base_url: ") as caught:
        check_address(url)
    assert said in str(caught.value)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    ("adapter", "given"),
    [
        (GptZero, "mixed=maybe"),
        (GptZero, "model=x"),
        (GptZero, "plan="),
        (GptZero, "plan=a b"),
        (GptZero, "version=../x"),
        (GptZero, "timeout=0"),
        (GptZero, "timeout=601"),
        (GptZero, "timeout=nan"),
        (GptZero, "concurrency=0"),
        (GptZero, "concurrency=33"),
        (GptZero, "retries=11"),
        (GptZero, "ca_file=nowhere.pem"),
        (GptZero, "api_key=canary-0123"),
        (Originality, "storeScan=true"),
        (Originality, "model=two words"),
        (Copyleaks, "sensitivity=4"),
        (Copyleaks, "language=english"),
        (Copyleaks, "sandbox=maybe"),
    ],
)
def test_an_option_that_is_not_there_or_holds_no_such_thing_is_refused(adapter, given, tmp_path):
    with pytest.raises(AdapterOptionError, match=f"--bench-adapter={adapter.name}"):
        AdapterChoice.parse(f"{adapter.name}:{given}").options_for(adapter, directory=tmp_path)


def test_options_are_read_from_text(tmp_path):
    (tmp_path / "ca.pem").touch()
    text = "gptzero:plan=starter,version=2025-10-30-base,multilingual=true,mixed=half,ca_file=ca.pem,timeout=5"
    options = AdapterChoice.parse(text).options_for(GptZero, directory=tmp_path)
    assert msgspec.structs.asdict(options) == {
        "plan": "starter",
        "timeout": 5.0,
        "concurrency": 4,
        "retries": 4,
        "base_url": None,
        "ca_file": tmp_path / "ca.pem",
        "version": "2025-10-30-base",
        "multilingual": True,
        "mixed": "half",
    }


@pytest.mark.parametrize(
    ("adapter", "address"),
    [
        (GptZero, "https://api.gptzero.me"),
        (Originality, "https://api.originality.ai"),
        (Copyleaks, "https://api.copyleaks.com"),
    ],
)
def test_without_an_address_the_vendors_own_is_asked(adapter, address):
    assert adapter().base_url == address
    assert adapter(adapter.Options(base_url="https://proxy.example.org/a/")).base_url == "https://proxy.example.org/a"


@pytest.mark.parametrize(
    ("url", "leaves"),
    [
        (None, True),
        ("https://127.0.0.1:8443", False),
        ("http://localhost", False),
        ("https://[::1]:8443/v1", False),
        ("https://LOCALHOST", False),
        ("https://127.1", True),
        ("https://0.0.0.0", True),
        ("https://localhost.example.org", True),
        ("https://127.0.0.1.example.org", True),
        ("https://10.0.0.1", True),
    ],
)
def test_only_an_address_of_this_machine_does_not_leave_it(url, leaves):
    assert GptZero(GptZero.Options(base_url=url)).leaves_machine is leaves
