import json

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from pytest_benchbench.browser.netlog import NetLogError, read_net_log

TYPES = {
    name: number
    for number, name in enumerate(
        [
            *("REQUEST_ALIVE", "URL_REQUEST_START_JOB", "HOST_RESOLVER_MANAGER_REQUEST", "HOST_RESOLVER_MANAGER_JOB"),
            *("DNS_TRANSACTION", "TCP_CONNECT_ATTEMPT", "UDP_CONNECT", "UDP_BYTES_SENT"),
        ]
    )
}
HEAD = {
    "clientInfo": {"command_line": "chromium --log-net-log=x", "name": "Chromium", "version": "156.0.8078.108"},
    "logEventPhase": {"PHASE_BEGIN": 1, "PHASE_END": 2, "PHASE_NONE": 0},
    "logEventTypes": TYPES,
    "logFormatVersion": 1,
}
PAGE = "http://127.0.0.1:8000"
EXTENSION = f"chrome-extension://{'a' * 32}"
ALLOWED = {PAGE, EXTENSION}


def event(name, source=1, phase=1, **parameters):
    line = {"phase": phase, "source": {"id": source, "start_time": "1", "type": 1}, "time": "2", "type": TYPES[name]}
    return line | ({"params": parameters} if parameters else {})


def request(url, initiator=EXTENSION):
    return event("URL_REQUEST_START_JOB", url=url, initiator=initiator, method="GET")


def written(events, head=HEAD):
    """A log as Chromium writes it."""
    lines = ",\n".join(json.dumps(each) for each in events)
    return f'{{"constants":{json.dumps(head)},\n"events": [\n{lines}],\n"polledData": [{{"badProxies":[]}}]\n}}\n'.encode()


@pytest.fixture
def read(tmp_path):
    def write_and_read(data):
        path = tmp_path / "log.json"
        path.write_bytes(data)
        return read_net_log(path)

    return write_and_read


def outside(log, allowed=ALLOWED):
    return [str(sighting) for sighting in log.outside(allowed)]


def test_a_complete_log_names_the_browser_and_counts(read):
    log = read(written([request(f"{PAGE}/a.png"), request(f"{PAGE}/b.png"), event("REQUEST_ALIVE")]))
    assert (log.complete, log.events, log.browser) == (True, 3, "Chromium 156.0.8078.108")
    assert [str(sighting) for sighting in log.sightings] == [f"request {PAGE}/a.png by {EXTENSION}, 2 times"]
    assert outside(log) == []


def test_requests_elsewhere_are_named_with_who_made_them(read):
    log = read(
        written(
            [
                request("https://leak.example.com/x?data"),
                request("ws://192.0.2.1/s", PAGE),
                request("https://update.example/", "not an origin"),
            ]
        )
    )
    assert outside(log) == [
        f"request https://leak.example.com/x?data by {EXTENSION}",
        f"request ws://192.0.2.1/s by {PAGE}",
        "request https://update.example/",
    ]


def test_another_server_on_loopback_is_open_to_the_browser_itself_only(read):
    other = "http://127.0.0.1:9/ListAccounts"
    assert outside(read(written([request(other, "not an origin")]))) == []
    for initiator in (EXTENSION, PAGE, "null [internally: (ABC) derived from http://127.0.0.1:8000]"):
        assert outside(read(written([request(other, initiator)]))) == [f"request {other} by {initiator}"]


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8000@evil.example/", "http://127.0.0.1.evil.example:8000/", "file://host/x"]
)
def test_a_url_that_only_looks_like_loopback_is_outside(read, url):
    assert outside(read(written([request(url, "not an origin")]))) == [f"request {url}"]


def test_a_name_that_is_looked_up_is_outside_even_if_the_resolver_is_on_this_machine(read):
    log = read(
        written(
            [
                event("HOST_RESOLVER_MANAGER_REQUEST", host="http://127.0.0.1:8000", network_anonymization_key="null"),
                event("HOST_RESOLVER_MANAGER_REQUEST", host="[::1]:80", network_anonymization_key="null"),
                event("HOST_RESOLVER_MANAGER_REQUEST", host="localhost:80"),
                event(
                    "HOST_RESOLVER_MANAGER_REQUEST",
                    host="http://leak.example.com",
                    network_anonymization_key=f"{EXTENSION} same_site",
                ),
                event("HOST_RESOLVER_MANAGER_JOB", source=7, host="leak.example.org:443"),
                event("DNS_TRANSACTION", source=7, phase=0, source_dependency={"id": 9, "type": 45}),
                event("DNS_TRANSACTION", source=9, hostname="stun.example.com.", query_type=1),
                event("UDP_CONNECT", source=10, address="127.0.0.53:53"),
                event("UDP_BYTES_SENT", source=10, phase=0, byte_count=37),
            ]
        )
    )
    assert outside(log) == [
        f"look-up leak.example.com by {EXTENSION}",
        "look-up leak.example.org",
        "look-up stun.example.com",
    ]


def test_packets_of_a_connected_socket_are_joined_to_where_it_was_connected(read):
    log = read(
        written(
            [
                event("UDP_CONNECT", source=17, address="[2001:4860:4860::8888]:443"),  # a route probe: nothing is sent
                event("UDP_CONNECT", source=63, address="192.0.2.53:53"),
                event("UDP_CONNECT", source=64, address="127.0.0.1:53"),
                event("UDP_BYTES_SENT", source=63, phase=0, byte_count=37),
                event("UDP_BYTES_SENT", source=64, phase=0, byte_count=37),
                event("UDP_BYTES_SENT", source=63, phase=0, byte_count=37),
            ]
        )
    )
    assert outside(log) == ["packet 192.0.2.53:53, 2 times"]


def test_packets_of_an_unconnected_socket_say_themselves_where_they_go(read):
    sent = [event("UDP_BYTES_SENT", source=105, phase=0, address="192.0.2.78:3478", byte_count=20)]
    assert outside(read(written(sent))) == ["packet 192.0.2.78:3478"]


def test_packets_of_which_the_log_does_not_say_where_they_go_are_outside(read):
    assert outside(read(written([event("UDP_BYTES_SENT", source=5, phase=0, byte_count=1)]))) == ["packet unknown"]


def test_connections_are_seen_when_they_are_tried(read):
    tried = [event("TCP_CONNECT_ATTEMPT", source=s, address=a) for s, a in ((1, "127.0.0.1:8000"), (2, "[2001:db8::1]:80"))]
    ends = [event("TCP_CONNECT_ATTEMPT", source=2, phase=2, os_error=113)]
    assert outside(read(written(tried + ends))) == ["connection [2001:db8::1]:80"]


EVENTS = [
    request(f"{PAGE}/a"),
    event("UDP_CONNECT", source=63, address="192.0.2.53:53"),
    event("UDP_BYTES_SENT", source=63, phase=0, byte_count=37),
    event("HOST_RESOLVER_MANAGER_REQUEST", host="http://name]},.example\n", network_anonymization_key=f"{EXTENSION} x"),
    request("http://192.0.2.1/]}]"),
]
WHOLE = written(EVENTS)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(end=st.integers(0, len(WHOLE) - 1))
def test_a_log_cut_anywhere_tells_what_is_whole_in_it_and_that_it_was_cut(read, end):
    before_events = WHOLE.index(b'"events": [') + len(b'"events": [')
    if end < before_events:
        with pytest.raises(NetLogError, match="cut before its first event"):
            read(WHOLE[:end])
        return
    log = read(WHOLE[:end])
    whole = [json.dumps(each).encode() for each in EVENTS]
    there = sum(WHOLE.index(line) + len(line) <= end for line in whole)
    assert log.events == there
    assert log.sightings == read(written(EVENTS[:there]) if there else WHOLE[:before_events]).sightings
    assert log.complete == (end == len(WHOLE) - 1)  # without its last line end nothing is missing


ADDRESSES = st.sampled_from(["192.0.2.1:53", "127.0.0.1:53", "[::1]:53", "[2001:db8::1]:53"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sockets=st.lists(st.tuples(ADDRESSES, st.booleans(), st.integers(0, 3)), max_size=8), seed=st.randoms())
def test_the_packets_of_many_sockets_are_counted_by_where_they_go_in_any_order(read, sockets, seed):
    sends, expected = [], {}
    for source, (address, connected, count) in enumerate(sockets):
        sends += [event("UDP_BYTES_SENT", source, 0, byte_count=1, **({} if connected else {"address": address}))] * count
        if count and not address.startswith(("127", "[::1]")):
            expected[address] = expected.get(address, 0) + count
    seed.shuffle(sends)
    connects = [
        event("UDP_CONNECT", source, address=address) for source, (address, connected, _) in enumerate(sockets) if connected
    ]
    log = read(written([event("REQUEST_ALIVE"), *connects, *sends]))
    assert {sighting.where: sighting.count for sighting in log.outside(ALLOWED)} == expected


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no log of a browser's network"),
        (b"\x00" * 100, "no log of a browser's network"),
        (b'{"constants":[],\n"events": [\n', "1: no log of a browser's network: constants: expected object, got array"),
        (
            written(EVENTS, HEAD | {"logEventTypes": {"REQUEST_ALIVE": 0}}),
            "1: a log whose events have other names: there is no URL_",
        ),
        (written(EVENTS, HEAD | {"logEventPhase": {}}), "1: a log whose events have other phases: there is no PHASE_BEGIN"),
        (WHOLE.replace(b'"phase": 0', b'"phase": x'), "5: no event: "),
        (WHOLE.replace(b'"params": {"byte_count": 37}', b'"params": 3'), "5: params: expected object, got int"),
    ],
)
def test_what_is_no_log_is_refused_in_one_line(read, tmp_path, data, message):
    with pytest.raises(NetLogError) as error:
        read(data)
    assert str(error.value).startswith(f"{tmp_path / 'log.json'}:")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_line_without_end_is_not_read_into_memory(read, monkeypatch):
    monkeypatch.setattr("pytest_benchbench.browser.netlog.MAX_LINE_BYTES", 2000)
    with pytest.raises(NetLogError, match=r":4: longer than 2000 bytes$"):
        read(written([EVENTS[0], request(f"{PAGE}/{'x' * 2000}")]))


def test_a_log_that_is_not_there_is_said_so(tmp_path):
    with pytest.raises(NetLogError, match="No such file"):
        read_net_log(tmp_path / "none.json")
