"""What is secret, and that it is cut out of texts."""

import base64
import hashlib
import html
import json
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import msgspec
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.adapters.base import Adapter, AdapterDescription, Detection
from pytest_benchbench.adapters.pool import AdapterChoice
from pytest_benchbench.adapters.registry import AdapterRegistry
from pytest_benchbench.adapters.secrets import (
    HIDDEN,
    NO_SECRETS,
    Secret,
    Secrets,
    is_secret_name,
    path_options,
    secret_options,
)

KEY = "sk-0123456789abcdef"


@pytest.mark.parametrize(
    "name", ["api_key", "apiKey", "APIKEY", "OPENAI_API_KEY", "token", "accessToken", "db-password", "HF_TOKEN"]
)
def test_names_that_say_so(name):
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name", ["max_tokens", "keyframes", "TOKENIZERS_PARALLELISM", "weights", "", "_", "KEYBOARD", "hockeyrink"]
)
def test_names_that_do_not(name):
    assert not is_secret_name(name)


class Options(msgspec.Struct, rename={"spoken": "api-key"}):
    plain: str = ""
    declared: Secret = ""
    maybe: Secret | None = None
    api_key: str | None = None
    message_key: Annotated[str, msgspec.Meta(extra={"secret": False})] = ""
    key_file: Path | None = None
    token_limit: int = 0
    use_token: bool = False
    spoken: str = ""


def test_options_are_secret_by_declaration_or_by_name():
    assert secret_options(Options) == {"declared", "maybe", "api_key", "api-key"}


class Remote(Adapter):
    name = "remote"
    media_types = frozenset({"image"})
    Options = Options

    def detect(self, sample):
        return Detection("detected")

    def describe(self):
        return AdapterDescription("1", "always")


def secrets(*choices, **environment):
    registry = AdapterRegistry()
    registry.register(Remote)
    return Secrets.of([AdapterChoice.parse(choice) for choice in choices], registry, environment)


def test_options_are_shown_without_their_secrets():
    text = f"a=remote:plain=x,declared=ab,api_key={KEY},maybe="
    known = secrets(text)
    assert known.shown(AdapterChoice.parse(text)) == {"plain": "x", "declared": HIDDEN, "api_key": HIDDEN, "maybe": ""}
    assert known.argument(f"--bench-adapter={text}") == "--bench-adapter=a=remote:plain=x,declared=***,api_key=***,maybe="
    assert known.argument("--manifest=ab.jsonl") == "--manifest=ab.jsonl"


class Placed(Remote):
    name = "placed"

    class Options(msgspec.Struct):
        program: Annotated[str, msgspec.Meta(extra={"path": True})] = ""
        model: Path | None = None
        note: str = ""


def test_of_a_path_evidence_keeps_the_last_part():
    registry = AdapterRegistry()
    registry.register(Placed)
    values = {"program": "/home/me/bin/browser", "model": "../mine/model.onnx", "note": "a/b"}
    choice = AdapterChoice("p", "placed", values)
    secrets = Secrets.of([choice], registry, {})
    assert path_options(Placed.Options) == {"program", "model"}
    assert secrets.recorded(choice) == {"program": "browser", "model": "model.onnx", "note": "a/b"}
    assert secrets.shown(choice) == values


def test_of_an_adapter_that_is_not_there_the_names_tell():
    text = f"elsewhere:api_key={KEY},mode=fast"
    assert secrets(text).shown(AdapterChoice.parse(text)) == {"api_key": HIDDEN, "mode": "fast"}


@pytest.mark.parametrize("value", ["", "abc", "true", "None"])
def test_what_cannot_be_told_from_a_word_stays_in_texts(value):
    assert secrets(f"remote:declared={value}").mask("abc true None") == "abc true None"


def test_variables_of_the_environment():
    known = secrets(SERVICE_TOKEN="hunter-two", HOME="/home/someone", SHORT_KEY="1234567")
    assert known.mask("hunter-two of /home/someone, 1234567") == "*** of /home/someone, 1234567"


@pytest.mark.parametrize(
    "text",
    [
        KEY,
        f"'{KEY}'",
        f"?key={KEY}&x",
        f"{KEY}{KEY}",
        f"{{'a': '{KEY[:12]}...'}}",
        f"Bearer {KEY[:9]}…",
        f"x{KEY[:11]}",
        KEY[:15],
    ],
)
def test_a_secret_is_cut_out_whole_or_cut_off(text):
    assert KEY[:6] not in secrets(f"remote:declared={KEY}").mask(text)


def test_the_beginning_of_a_short_secret_at_the_end_of_a_cut_text():
    assert secrets("remote:declared=hunter").mask("password hunt…") == "password ***…"


def test_a_secret_in_an_address_is_cut_out():
    secret = "a+b/c=d e&f ü"
    assert Secrets({}, [secret]).mask(f"https://x.y?k={quote(secret, safe='')}&z=1") == "https://x.y?k=***&z=1"


@pytest.mark.parametrize(
    "write",
    [
        str.upper,
        str.swapcase,
        lambda secret: base64.b64encode(secret.encode()).decode(),
        lambda secret: base64.b64encode(f"u:{secret}".encode()).decode(),
        lambda secret: base64.urlsafe_b64encode(f"me:{secret}:".encode()).decode(),
        lambda secret: secret.encode().hex(),
        lambda secret: quote(quote(secret, safe=""), safe=""),
        lambda secret: quote(secret, safe="").replace("%2B", "%2b"),
        lambda secret: secret.replace("/", "\\/"),
        lambda secret: secret.replace("+", "&#43;"),
        lambda secret: secret.replace("+", "&#x2B;"),
        lambda secret: html.escape(secret),
        lambda secret: secret.replace("+", "\\u002b"),
        lambda secret: json.dumps(json.dumps(secret)),
    ],
)
def test_a_secret_is_cut_out_however_it_is_written(write):
    known = Secrets({}, ["sk-Canary+5c1f&ea2/09b4471"])
    written = write("sk-Canary+5c1f&ea2/09b4471")
    masked = known.mask(f"the key {written} is bad")
    assert HIDDEN in masked
    assert len(masked) < len("the key *** is bad") + 14  # what stands around it in base64, and quotation marks
    assert known.may_occur_in(json.dumps({"reason": f"the key {written} is bad"}))


def test_the_longer_of_two_secrets_goes_first():
    assert Secrets({}, ["hunter22", "hunter22-long"]).mask("hunter22-long hunter22") == "*** ***"


def test_json_is_masked_everywhere():
    value = {"a": [KEY, 1, None, {KEY: [True, KEY]}]}
    assert Secrets({}, [KEY]).mask_json(value) == {"a": ["***", 1, None, {"***": [True, "***"]}]}


def test_without_secrets_nothing_happens():
    assert not NO_SECRETS
    assert NO_SECRETS.mask(KEY) == KEY


@given(secret=st.text(min_size=8, max_size=40), before=st.text(), after=st.text())
def test_no_secret_stays(secret, before, after):
    masked = Secrets({}, [secret]).mask(f"{before}{secret}{after}")
    assert secret not in masked or set(secret) <= set(HIDDEN + before + after)


def test_words_of_a_short_secret_and_parts_of_a_path_that_is_there_stay(tmp_path):
    path = tmp_path / "a-folder-of-some-length" / "id"
    path.parent.mkdir()
    path.touch()
    known = secrets(SSH_KEY_FILE=str(path), SOME_TOKEN="word-detector")
    assert known.mask(f"no {tmp_path.name}/a-folder-of-some-length/x: detector") == (
        f"no {tmp_path.name}/a-folder-of-some-length/x: detector"
    )


@pytest.mark.parametrize("written", [str, json.dumps, quote, repr, lambda secret: secret.encode().hex()])
def test_a_secret_as_long_as_a_file_is_cut_out_in_any_writing(written):
    secret = json.dumps({f"field {number}": hashlib.sha256(bytes([number])).hexdigest() for number in range(60)})
    masked = Secrets({}, [secret]).mask(f"before {written(secret)} after")
    assert masked.startswith("before ")
    assert masked.endswith(" after")
    assert len(masked) < 60
