"""The log of a running browser, as it comes through its pipe."""

import json
import os
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st

from pytest_benchbench.browser import traffic_log
from pytest_benchbench.browser.netlog import NetLogError, NetLogReader, read_net_log
from pytest_benchbench.browser.traffic_log import TrafficLog

WAIT_S = 30.0


@pytest.fixture
def opened(tmp_path):
    """``opened(copy=None)``: a log, and the file into which a browser would write it."""
    logs, files = [], []

    def start(copy=None):
        logs.append(TrafficLog(tmp_path / "pipe", copy))
        files.append((tmp_path / "pipe").open("wb", buffering=0))
        return logs[-1], files[-1]

    yield start
    for file, log in zip(files, logs, strict=True):
        file.close()
        log.close()


def test_what_is_written_is_known_while_the_browser_goes_on(opened, net_logs):
    log, file = opened()
    mark, leak = f"{net_logs.PAGE}/mark", "http://192.0.2.1/leak"
    whole = net_logs.written([net_logs.request(leak), net_logs.request(mark), net_logs.event("REQUEST_ALIVE")])
    until = whole.index(b'"polledData"')
    assert not log.reaches(mark, 0)  # waited for from now on: a request that was read before is made again
    file.write(whole[:until])
    assert log.reaches(mark, WAIT_S)
    assert [str(seen) for seen in log.outside({net_logs.PAGE})] == [f"request {leak} by {net_logs.EXTENSION}"]


def test_a_request_that_is_not_there_yet_is_waited_for_in_vain(opened, net_logs):
    log, file = opened()
    file.write(net_logs.written([net_logs.request(f"{net_logs.PAGE}/other")]))
    assert not log.reaches(f"{net_logs.PAGE}/mark", 0.05)
    assert log.outside({net_logs.PAGE}) == []


def test_closing_reads_what_the_browser_wrote_last_however_much(opened, net_logs):
    log, file = opened()
    events = [net_logs.request(f"{net_logs.PAGE}/{number}") for number in range(5000)]
    whole = net_logs.written([*events, net_logs.request("http://192.0.2.1/last")])
    writing = threading.Thread(target=lambda: (file.write(whole), file.close()))
    writing.start()
    writing.join(WAIT_S)  # more than a pipe holds: it is read all the time
    assert not writing.is_alive()
    log.close()
    assert [seen.where for seen in log.outside({net_logs.PAGE})] == ["http://192.0.2.1/last"]
    log.close()  # twice


def test_a_browser_that_never_wrote_is_closed(opened):
    log, file = opened()
    file.close()
    log.close()
    assert log.outside(()) == []


def test_a_pipe_that_somebody_else_still_holds_ends_when_nothing_comes(opened, net_logs, monkeypatch):
    monkeypatch.setattr(traffic_log, "_LOOK_MS", 20)
    log, file = opened()
    file.write(net_logs.written([net_logs.request("http://192.0.2.1/")]))
    log.close()  # the other end is open
    assert len(log.outside(())) == 1


def test_a_copy_has_every_byte_and_never_replaces_a_file(opened, net_logs, tmp_path):
    copy = tmp_path / "copy.json"
    log, file = opened(copy)
    whole = net_logs.written([net_logs.request(f"{net_logs.PAGE}/{number}") for number in range(2000)])
    file.write(whole)
    file.close()
    log.close()
    assert copy.read_bytes() == whole
    assert read_net_log(copy).complete
    with pytest.raises(FileExistsError):
        TrafficLog(tmp_path / "another", copy)
    assert not (tmp_path / "another").exists()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20, deadline=None)
@given(cuts=st.lists(st.integers(1, 40), max_size=4))
@example(cuts=[10])  # a piece that ends with the list
def test_a_copy_is_the_file_that_a_browser_writes_where_it_can_go_back(net_logs, cuts):
    """Into a pipe it writes a comma behind the last event, too."""
    events = [net_logs.request(f"{net_logs.PAGE}/{number}") for number in range(3)]
    whole = net_logs.written(events)
    ending = whole.index(b'],\n"polledData"')
    piped = whole[:ending] + b",\n" + whole[ending:]
    places = sorted(ending - 5 + cut for cut in cuts)
    with tempfile.TemporaryDirectory() as folder:
        log = TrafficLog(Path(folder) / "pipe", Path(folder) / "copy")
        with (Path(folder) / "pipe").open("wb", buffering=0) as file:
            for begin, end in zip([0, *places], [*places, len(piped)], strict=True):
                file.write(piped[begin:end])
        log.close()
        assert (Path(folder) / "copy").read_bytes() == whole
    assert json.loads(whole)


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (b"no log\nat all\n", "the log of the browser's network: no log of a browser's network"),
        (b'{"constants":{},\n"events": [\n', "the log of the browser's network:1: no log of a browser's network: constants"),
    ],
)
def test_what_is_no_log_is_told_to_whoever_asks_and_goes_on_being_taken(opened, written, told):
    log, file = opened()
    file.write(written)
    for _ in range(2):
        with pytest.raises(NetLogError, match=told):
            log.reaches("http://127.0.0.1/", WAIT_S)
    file.write(b"x" * (1 << 20))  # or the browser would wait for ever
    with pytest.raises(NetLogError, match=told):
        log.outside(())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(data=st.data())
def test_pieces_of_any_size_say_what_the_whole_says(net_logs, data):
    events = [net_logs.request(f"http://192.0.2.{number}/") for number in range(3)]
    whole = net_logs.written([*events, net_logs.event("UDP_BYTES_SENT", phase=0, address="192.0.2.9:53")])
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=6), label="cuts"))
    pieces = NetLogReader("log")
    for begin, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
        pieces.feed(whole[begin:end])
    at_once = NetLogReader("log")
    at_once.feed(whole)
    assert pieces.end() == at_once.end()
    assert pieces.end().complete


def test_a_pipe_that_cannot_be_made_leaves_no_copy_open(tmp_path):
    (tmp_path / "pipe").write_text("in the way")
    with pytest.raises(FileExistsError):
        TrafficLog(tmp_path / "pipe", tmp_path / "copy")
    opened = {os.path.realpath(file.path) for file in os.scandir("/proc/self/fd")}
    assert str(tmp_path / "copy") not in opened
