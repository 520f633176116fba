"""A call ends in time and in bytes, goes where it is to go, and says whether it may be billed."""

import logging
import socket
import ssl
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from pytest_benchbench import AdapterUnavailable, Detection
from pytest_benchbench.adapters.remote import wire as wire_module
from pytest_benchbench.adapters.remote.discretion import Credential, Discretion
from pytest_benchbench.adapters.remote.errors import AnswerLost, NotSent
from pytest_benchbench.adapters.remote.timekeeping import Timekeeper
from pytest_benchbench.adapters.remote.wire import Wire

SOON = 0.4
"""Seconds after which a call is given up that gets no answer: a wait that cannot be put on by a clock."""


@pytest.fixture
def opened(vendors):
    made = []

    def make(*, timeout=30.0, ca_file=vendors.ca_file, clock=None):
        wire = Wire(timeout=timeout, connections=2, ca_file=ca_file, clock=clock or Timekeeper(), discretion=Discretion())
        wire.open()
        made.append(wire)
        return wire

    yield make
    for wire in made:
        wire.close()


def post(wire, vendors, document=None, path="/v2/predict/text"):
    return wire.post(f"{vendors.url}{path}", {"x-api-key": Credential("k" * 8)}, document or {"document": "text"})


def test_a_call_says_what_was_answered(opened, vendors):
    reply = post(opened(), vendors)
    assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
    assert reply.latency_ms > 0.0
    (asked,) = vendors.asked
    assert asked.document == {"document": "text"}
    assert asked.headers["x-api-key"] == "k" * 8
    assert asked.headers["accept-encoding"] == "identity"
    assert "cookie" not in asked.headers


@pytest.mark.parametrize("manner", ["silent", "dripping"])
def test_a_slow_answer_is_given_up_and_may_be_billed(opened, vendors, player, manner):
    vendors.play([player.Act(body=b"{" + b" " * 1000, manner=manner)])
    with pytest.raises(AnswerLost, match=r"no whole answer within 0\.4 s; the question was sent and may have been billed"):
        post(opened(timeout=SOON), vendors)


def test_dripping_headers_are_given_up_too(opened, vendors, player):
    vendors.play([player.Act(headers={f"X-{number}": "y" * 50 for number in range(50)}, manner="dripping")])
    with pytest.raises(AnswerLost, match="no whole answer within"):
        post(opened(timeout=SOON), vendors)


def test_an_answer_that_is_cut_off_is_lost(opened, vendors, player):
    vendors.play([player.Act(body={"documents": []}, manner="cut")])
    with pytest.raises(AnswerLost, match="may have been billed"):
        post(opened(), vendors)


def test_an_answer_is_bounded_in_bytes(opened, vendors, player, monkeypatch):
    monkeypatch.setattr(wire_module, "MAX_ANSWER_BYTES", 1000)
    vendors.play([player.Act(body=b"x" * 1000), player.Act(body=b"x" * 1001), player.Act(500, body=b"x" * 1_000_000)])
    wire = opened()
    assert len(post(wire, vendors).body) == 1000
    with pytest.raises(AnswerLost, match="an answer of more than 1000 bytes"):
        post(wire, vendors)
    reply = post(wire, vendors)
    assert (reply.status, len(reply.body)) == (500, 1000)


def test_a_redirect_is_not_followed(opened, vendors, player):
    vendors.play([player.Act(307, headers={"Location": f"{vendors.url}/elsewhere"})])
    assert post(opened(), vendors).status == 307
    assert [asked.path for asked in vendors.asked] == ["/v2/predict/text"]


def test_a_certificate_that_is_not_trusted_ends_it_before_anything_is_sent(opened, vendors):
    with pytest.raises(NotSent, match="certificate verify failed") as caught:
        post(opened(ca_file=None), vendors)
    assert caught.value.lasting
    assert vendors.asked == []


def test_where_nobody_listens_nothing_was_sent(opened, vendors):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        where = f"https://127.0.0.1:{unused.getsockname()[1]}/"
        with pytest.raises(NotSent, match=r"127\.0\.0\.1:\d+: .*; nothing was sent") as caught:
            opened().post(where, {}, {})
    assert not caught.value.lasting


def test_a_server_that_never_agrees_on_tls_is_given_up_before_anything_is_sent(opened):
    wire, said = opened(timeout=SOON), r"within 0\.4 s; nothing was sent"
    with socket.create_server(("127.0.0.1", 0)) as mute, pytest.raises(NotSent, match=said):
        wire.post(f"https://127.0.0.1:{mute.getsockname()[1]}/", {}, {})


def test_the_environment_names_no_proxy_and_no_certificates(opened, vendors, monkeypatch):
    for name in ("HTTPS_PROXY", "ALL_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere")
    assert post(opened(), vendors).status == 200


def test_a_file_without_certificates_is_said(tmp_path, opened):
    (tmp_path / "ca.pem").write_text("no certificate")
    with pytest.raises(AdapterUnavailable, match=r"ca\.pem: it holds no certificate"):
        opened(ca_file=tmp_path / "ca.pem")


def test_a_closed_wire_sends_nothing(opened, vendors):
    wire = opened()
    wire.close()
    with pytest.raises(NotSent, match="closed"):
        post(wire, vendors)
    assert vendors.asked == []


def test_a_call_that_is_under_way_ends_before_the_wire_closes(opened, vendors):
    wire, started, released = opened(), threading.Event(), threading.Event()

    def act(documented):
        started.set()
        released.wait(60)
        return documented

    vendors.play([act])
    with ThreadPoolExecutor(2) as threads:
        call = threads.submit(post, wire, vendors)
        assert started.wait(60)
        closing = threads.submit(wire.close)
        released.set()
        closing.result()
        assert call.result().status == 200


def test_old_tls_is_not_spoken():
    assert ssl.create_default_context().minimum_version >= ssl.TLSVersion.TLSv1_2


def test_the_libraries_log_nothing_of_what_a_vendor_says(opened, vendors, player, caplog):
    caplog.set_level(logging.DEBUG)
    vendors.play([player.Act(body={}, headers={"X-Echo": "a-token-of-48-hours"})])
    post(opened(), vendors)
    assert "a-token-of-48-hours" not in caplog.text
    logging.getLogger("httpx").info("others may")
    assert "others may" in caplog.text


def test_an_unready_vendor_is_asked_again_and_a_lost_answer_is_not(ask, texts, vendors, player):
    adapter = ask("gptzero", timeout=SOON)
    vendors.play([player.Act(manner="silent")])
    (answer,) = adapter.detect_batch(texts(1))
    assert (answer.type, len(vendors.asked)) == ("AnswerLost", 1)
    assert isinstance(adapter.detect_batch(texts(2))[1], Detection)
