import json
import os
import signal

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from pytest_benchbench.browser import netlog
from pytest_benchbench.browser.endpoint import Endpoint
from pytest_benchbench.browser.launching import launch_browser
from pytest_benchbench.browser.netlog import NetLogError, read_net_log
from pytest_benchbench.browser.origins import origin_of

laws = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)


@pytest.fixture
def page(net_logs):
    return net_logs.PAGE


@pytest.fixture
def extension(net_logs):
    return net_logs.EXTENSION


@pytest.fixture
def read(tmp_path, net_logs):
    """``read(events)`` or ``read(bytes)``: write a log, and read it."""

    def write_and_read(log):
        path = tmp_path / "log.json"
        path.write_bytes(log if isinstance(log, bytes) else net_logs.written(log))
        return read_net_log(path)

    return write_and_read


@pytest.fixture
def outside(read, page, extension):
    """``outside(events)``: what of them led outside."""
    return lambda events: [str(sighting) for sighting in read(events).outside({page, extension})]


@pytest.fixture
def event(net_logs):
    return net_logs.event


@pytest.fixture
def request_of(net_logs):
    return net_logs.request


def test_a_complete_log_names_the_browser_and_counts(read, event, request_of, page, extension):
    log = read([request_of(f"{page}/a.png"), request_of(f"{page}/b.png"), event("REQUEST_ALIVE")])
    assert (log.complete, log.events, log.browser) == (True, 3, "Chromium 156.0.8078.108")
    assert [str(sighting) for sighting in log.sightings] == [f"request {page}/a.png by {extension}, 2 times"]
    assert log.outside({page}) == []


def test_requests_elsewhere_are_named_with_who_made_them(outside, request_of, page, extension):
    leaks = [request_of("https://leak.example.com/x?data"), request_of("ws://192.0.2.1/s", page)]
    assert outside([*leaks, request_of("https://update.example/", "not an origin")]) == [
        f"request https://leak.example.com/x?data by {extension}",
        f"request ws://192.0.2.1/s by {page}",
        "request https://update.example/",
    ]


def test_a_socket_is_told_apart_from_requests_to_the_same_server(outside, request_of, extension):
    urls = ["http://192.0.2.1/a", "ws://192.0.2.1/b", "http://192.0.2.1/c"]
    assert outside([request_of(url) for url in urls]) == [
        f"request http://192.0.2.1/a by {extension}, 2 times",
        f"request ws://192.0.2.1/b by {extension}",
    ]


def test_another_server_on_loopback_is_open_to_the_browser_itself_only(outside, request_of, page, extension):
    other = "http://127.0.0.1:9/ListAccounts"
    assert outside([request_of(other, "not an origin")]) == []
    for initiator in (extension, page, "null [internally: (ABC) derived from http://127.0.0.1:8000]"):
        assert outside([request_of(other, initiator)]) == [f"request {other} by {initiator}"]


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8000@evil.example/", "http://127.0.0.1.evil.example:8000/", "file://host/x"]
)
def test_a_url_that_only_looks_like_loopback_is_outside(outside, request_of, url):
    assert outside([request_of(url, "not an origin")]) == [f"request {url}"]


def test_a_name_that_is_looked_up_is_outside_even_if_the_resolver_is_on_this_machine(outside, event, extension):
    asked, key = "HOST_RESOLVER_MANAGER_REQUEST", f"{extension} same_site"
    assert outside(
        [
            event(asked, host="http://127.0.0.1:8000", network_anonymization_key="null"),
            event(asked, host="[::1]:80", network_anonymization_key="null"),
            event(asked, host="localhost:80"),
            event(asked, host="http://leak.example.com", network_anonymization_key=key),
            event("HOST_RESOLVER_MANAGER_JOB", source=7, host="leak.example.org:443"),
            event("DNS_TRANSACTION", source=7, phase=0, source_dependency={"id": 9, "type": 45}),
            event("DNS_TRANSACTION", source=9, hostname="stun.example.com.", query_type=1),
            event("UDP_CONNECT", source=10, address="127.0.0.53:53"),
            event("UDP_BYTES_SENT", source=10, phase=0, byte_count=37),
        ]
    ) == [f"look-up leak.example.com by {extension}", "look-up leak.example.org", "look-up stun.example.com"]


def test_packets_of_a_connected_socket_are_joined_to_where_it_was_connected(outside, event):
    assert outside(
        [
            event("UDP_CONNECT", source=17, address="[2001:4860:4860::8888]:443"),  # a route probe: nothing is sent
            event("UDP_CONNECT", source=63, address="192.0.2.53:53"),
            event("UDP_CONNECT", source=64, address="127.0.0.1:53"),
            event("UDP_BYTES_SENT", source=63, phase=0, byte_count=37),
            event("UDP_BYTES_SENT", source=64, phase=0, byte_count=37),
            event("UDP_BYTES_SENT", source=63, phase=0, byte_count=37),
        ]
    ) == ["packet 192.0.2.53:53, 2 times"]


def test_packets_of_an_unconnected_socket_say_themselves_where_they_go(outside, event):
    sent = event("UDP_BYTES_SENT", source=105, phase=0, address="192.0.2.78:3478", byte_count=20)
    assert outside([sent]) == ["packet 192.0.2.78:3478"]


def test_packets_of_which_the_log_does_not_say_where_they_go_are_outside(outside, event):
    assert outside([event("UDP_BYTES_SENT", source=5, phase=0, byte_count=1)]) == ["packet unknown"]


def test_more_places_than_are_kept_are_unknown_and_so_outside(outside, request_of, event, page, monkeypatch):
    monkeypatch.setattr(netlog, "MAX_PLACES", 2)
    monkeypatch.setattr(netlog, "MAX_SOCKETS", 1)
    leaks = [request_of(f"http://192.0.2.{number}/") for number in range(3)]
    assert outside([request_of(f"{page}/a"), *leaks])[1:] == ["request unknown, 2 times"]
    sockets = [event("UDP_CONNECT", source=number, address="127.0.0.1:53") for number in range(2)]
    sends = [event("UDP_BYTES_SENT", source=number, phase=0, byte_count=1) for number in range(2)]
    assert outside([*sockets, *sends]) == ["packet unknown"]


def test_connections_are_seen_when_they_are_tried(outside, event):
    tried = [event("TCP_CONNECT_ATTEMPT", source=s, address=a) for s, a in ((1, "127.0.0.1:8000"), (2, "[2001:db8::1]:80"))]
    assert outside([*tried, event("TCP_CONNECT_ATTEMPT", source=2, phase=2, os_error=113)]) == [
        "connection [2001:db8::1]:80"
    ]


@pytest.fixture
def events(event, request_of, page, extension):
    """Events of several kinds, with texts that look like the end of a list."""
    return [
        request_of(f"{page}/a"),
        event("UDP_CONNECT", source=63, address="192.0.2.53:53"),
        event("UDP_BYTES_SENT", source=63, phase=0, byte_count=37),
        event("HOST_RESOLVER_MANAGER_REQUEST", host="http://name]},.example\n", network_anonymization_key=f"{extension} x"),
        request_of("http://192.0.2.1/]}]"),
    ]


@laws
@given(data=st.data())
def test_a_log_cut_anywhere_tells_what_is_whole_in_it_and_that_it_was_cut(read, net_logs, events, data):
    whole = net_logs.written(events)
    end = data.draw(st.integers(0, len(whole) - 1), label="bytes that are left")
    before_events = whole.index(b'"events": [') + len(b'"events": [')
    if end < before_events:
        with pytest.raises(NetLogError, match="cut before its first event"):
            read(whole[:end])
        return
    log = read(whole[:end])
    there = sum(whole.index(line) + len(line) <= end for line in (json.dumps(each).encode() for each in events))
    assert log.events == there
    assert log.sightings == read(net_logs.written(events[:there]) if there else whole[:before_events]).sightings
    assert log.complete == (end == len(whole) - 1)  # without its last line end nothing is missing


ADDRESSES = st.sampled_from(["192.0.2.1:53", "127.0.0.1:53", "[::1]:53", "[2001:db8::1]:53"])


@laws
@given(sockets=st.lists(st.tuples(ADDRESSES, st.booleans(), st.integers(0, 3)), max_size=5), data=st.data())
def test_the_packets_of_many_sockets_are_counted_by_where_they_go_in_any_order(read, event, sockets, data):
    connects, sends, expected = [], [event("REQUEST_ALIVE")], {}
    for source, (address, connected, count) in enumerate(sockets):
        if connected:
            connects.append(event("UDP_CONNECT", source, address=address))
        itself = {} if connected else {"address": address}
        sends += [event("UDP_BYTES_SENT", source, 0, byte_count=1, **itself)] * count
        if count and not address.startswith(("127", "[::1]")):
            expected[address] = expected.get(address, 0) + count
    log = read(connects + data.draw(st.permutations(sends)))
    assert {sighting.where: sighting.count for sighting in log.outside(())} == expected


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (None, b"", "no log of a browser's network"),
        (None, b"\x00" * 100, "no log of a browser's network"),
        (
            None,
            b'{"constants":[],\n"events": [\n',
            "1: no log of a browser's network: constants: expected object, got array",
        ),
        (b'"UDP_CONNECT"', b'"UDP_CONNECTED"', "1: a log whose events have other names: there is no UDP_CONNECT"),
        (b'"PHASE_BEGIN"', b'"BEGIN"', "1: a log whose events have other phases: there is no PHASE_BEGIN"),
        (b'"phase": 0', b'"phase": x', "5: no event: "),
        (b'"params": {"byte_count": 37}', b'"params": 3', "5: params: expected object, got int"),
    ],
)
def test_what_is_no_log_is_refused_in_one_line(read, net_logs, events, tmp_path, old, new, message):
    with pytest.raises(NetLogError) as error:
        read(new if old is None else net_logs.written(events).replace(old, new))
    assert str(error.value).startswith(f"{tmp_path / 'log.json'}:")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_line_without_end_is_not_read_into_memory(read, events, request_of, page, monkeypatch):
    monkeypatch.setattr("pytest_benchbench.browser.netlog.MAX_LINE_BYTES", 2000)
    with pytest.raises(NetLogError, match=r":4: longer than 2000 bytes$"):
        read([events[0], request_of(f"{page}/{'x' * 2000}")])


def test_a_log_that_is_not_there_is_said_so(tmp_path):
    with pytest.raises(NetLogError, match="No such file"):
        read_net_log(tmp_path / "none.json")


def test_the_log_of_a_browser_that_was_killed_is_read_as_far_as_it_was_written(chromium, write_extension, serve, tmp_path):
    path, address = tmp_path / "log.json", serve()
    dist = write_extension(tmp_path / "dist")
    with launch_browser(chromium.executable, extension=dist, runtime="wasm", net_log=path) as browser:
        with Endpoint(browser.port) as endpoint:
            tab = endpoint.open_tab(address)
            for number in range(1000):  # what is written last is buffered
                tab.evaluate(f"fetch('/{number}').then(() => 0)")
                if f"{address}0".encode() in path.read_bytes():
                    break
        os.killpg(browser.pid, signal.SIGKILL)
    log = read_net_log(path)
    assert not log.complete
    assert log.browser.startswith("Chrom")
    assert address.removesuffix("/") in {origin_of(seen.where) for seen in log.sightings if seen.way == "request"}
    assert log.outside({address.removesuffix("/")}) == []
