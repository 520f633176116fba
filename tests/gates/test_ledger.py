"""The ledger: appended line by line, counted from the lines alone, refused when it is damaged."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.adapters.base import Weights
from pytest_benchbench.gates import ledger
from pytest_benchbench.gates.ledger import (
    LedgerError,
    OpenedBy,
    OpenedManifest,
    Opening,
    append_opening,
    attempts,
    check_ledger,
    read_ledger,
)
from pytest_benchbench.manifests import locked_files

A, B, C = "a" * 64, "b" * 64, "c" * 64


def model(sha256=A):
    return OpenedBy("onnx", "onnx", A, B, (Weights("model.onnx", sha256),))


def opening(**changes):
    whole = Opening(
        opened="2026-11-30T12:00:00.000+00:00",
        run_id="run-1",
        split="test",
        split_sha256=A,
        manifests=(OpenedManifest("dataset.jsonl", A),),
        models=(model(),),
        options_sha256=A,
        commit="abc",
        shard=None,
        shards=None,
    )
    return msgspec.structs.replace(whole, **changes)


def shard(index, count=2, **changes):
    return opening(shard=index, shards=count, **changes)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "benchbench-ledger.jsonl"


def test_an_opening_is_one_line_that_is_read_back(path):
    append_opening(path, opening())
    assert path.read_bytes().count(b"\n") == 1
    assert read_ledger(path) == [opening()]


def test_a_missing_ledger_has_no_lines(path):
    assert read_ledger(path) == []


def test_a_run_again_is_a_new_opening(path):
    assert [append_opening(path, opening()) for _ in range(3)] == [1, 2, 3]


def test_another_model_is_a_new_opening_of_the_same_split():
    assert attempts([opening(), opening(models=(model(B),))]) == [1, 2]


def test_another_split_is_counted_by_itself():
    assert attempts([opening(), opening(split_sha256=B), opening()]) == [1, 1, 2]


def bases(names):
    """Stand for the digests of bases called by single letters."""
    return "".join(name * 12 for name in names)


@pytest.mark.parametrize(
    ("other", "numbers"),
    [("abc", [1, 2]), ("abcde", [1, 2]), ("def", [1, 2]), ("ef", [1, 1])],
    ids=["a base less", "a base more", "one base in common", "no base in common"],
)
def test_a_changed_split_is_the_same_as_far_as_it_shares_bases(other, numbers):
    assert attempts([opening(split_bases=bases("abcd")), opening(split_sha256=B, split_bases=bases(other))]) == numbers


def test_splits_are_joined_by_a_third_and_their_openings_count_together():
    first, second = opening(split_bases=bases("ab")), opening(split_sha256=B, split_bases=bases("cd"))
    third = opening(split_sha256=C, split_bases=bases("bc"))
    assert attempts([first, second, second, third, first, second]) == [1, 1, 2, 4, 5, 6]


def test_the_bases_of_a_split_are_written_once(path):
    for line in (opening(split_bases=bases("ab")), opening(split_bases=bases("ab"), models=(model(B),))):
        append_opening(path, line)
    assert append_opening(path, opening(split_sha256=B, split_bases=bases("b"))) == 3
    assert [line.split_bases for line in read_ledger(path)] == [bases("ab"), None, bases("b")]


def test_shards_of_one_run_are_one_opening():
    assert attempts([shard(1), shard(2)]) == [1, 1]


def test_the_same_shard_again_is_a_new_opening():
    assert attempts([shard(1), shard(2), shard(1), shard(2)]) == [1, 1, 2, 2]


@pytest.mark.parametrize(
    "change",
    [
        {"manifests": (OpenedManifest("dataset.jsonl", B),)},
        {"models": (model(B),)},
        {"models": (msgspec.structs.replace(model(), options_sha256=B),)},
        {"models": (msgspec.structs.replace(model(), rule_sha256=A),)},
        {"models": (msgspec.structs.replace(model(), adapter="other"),)},
        {"models": (model(), model())},
        {"options_sha256": B},
        {"commit": "abd"},
        {"shards": 3},
    ],
    ids=str,
)
def test_shards_that_differ_are_several_openings(change):
    other = msgspec.structs.replace(shard(2), **change)
    assert attempts([shard(1), other]) == [1, 2]


@pytest.mark.parametrize(
    "change",
    [{"run_id": "run-2"}, {"opened": "2026-12-01T12:00:00+00:00"}, {"manifests": (OpenedManifest("renamed.jsonl", A),)}],
    ids=str,
)
def test_what_tells_no_openings_apart(change):
    assert attempts([shard(1), msgspec.structs.replace(shard(2), **change)]) == [1, 1]


def test_the_order_of_models_and_manifests_tells_nothing_apart():
    models, manifests = (model(A), model(B)), (OpenedManifest("a", A), OpenedManifest("b", B))
    other = shard(2, models=models[::-1], manifests=manifests[::-1])
    assert attempts([shard(1, models=models, manifests=manifests), other]) == [1, 1]


OF_SPLITS = {"a": "01", "b": "12", "c": "23", "d": "4", "e": "45"}
"""Five splits, and their bases."""

lines = st.lists(
    st.builds(
        lambda split, weights, part: opening(
            split_sha256=split * 64,
            split_bases=bases(OF_SPLITS[split]),
            models=(model(weights * 64),),
            **dict(zip(("shard", "shards"), part, strict=True)),
        ),
        st.sampled_from(sorted(OF_SPLITS)),
        st.sampled_from("ab"),
        st.sampled_from([(None, None), (1, 2), (2, 2), (1, 3)]),
    ),
    max_size=20,
)


def connected(split, opened):
    """Give the opened splits that a split is connected with, by bases of opened ones alone."""
    found = {split}
    while more := {other for other in opened for one in found if set(OF_SPLITS[other]) & set(OF_SPLITS[one])} - found:
        found |= more
    return found


@given(lines)
def test_an_attempt_is_one_more_than_the_openings_of_connected_splits_before_it(openings):
    numbers, known = attempts(openings), []
    for number, line in zip(numbers, openings, strict=True):
        split = line.split_sha256[0]
        joined = connected(split, {other for other, _ in known})
        if (split, number) in known:
            continue  # a shard of an opening that is counted
        assert number == 1 + len({one for one in known if one[0] in joined})
        known.append((split, number))


@given(lines)
def test_no_opening_has_a_shard_twice(openings):
    told = [(line.split_sha256, n, line.shard) for n, line in zip(attempts(openings), openings, strict=True)]
    assert len(told) == len(set(told))


@given(lines, lines)
def test_a_later_line_changes_no_earlier_number(openings, more):
    assert attempts([*openings, *more])[: len(openings)] == attempts(openings)


def test_a_torn_last_line(path):
    append_opening(path, opening())
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:40])
    with pytest.raises(LedgerError, match=r"benchbench-ledger.jsonl:2: the last line is cut off"):
        read_ledger(path)


def test_nothing_is_appended_to_a_torn_ledger(path):
    path.write_bytes(b'{"schema_version":1')
    with pytest.raises(LedgerError):
        append_opening(path, opening())
    assert path.read_bytes() == b'{"schema_version":1'


def changed(**members):
    return json.dumps(json.loads(msgspec.json.encode(opening())) | members)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("", "blank line"),
        ("<<<<<<< HEAD", "not JSON"),
        ("[]", "expected a JSON object"),
        ("{}", "missing required field"),
        (changed(schema_version=2), "invalid enum value 2"),
        (changed(more=1), "unknown field more"),
        (changed(split_sha256="A" * 64), "split_sha256"),
        (changed(split_bases="a" * 13), "split_bases"),
        (changed(split_bases=""), "split_bases"),
        (changed(split_bases="0" * 12 * 257), "split_bases"),
        (changed(shard=3, shards=2), "shard 3 of 2"),
        (changed(shard=1), "shard 1 of None"),
        (changed(shards=2), "shard None of 2"),
        (changed(shard=0, shards=2), "shard"),
        (changed(opened="yesterday"), "opened"),
        (changed()[:-1] + ', "split": "train"}', "split: this key stands twice"),
        (changed(commit=float("nan")), "commit"),
        ("[" * 5000 + "]" * 5000, "not"),
    ],
)
def test_a_foreign_line_is_named(path, line, why):
    path.write_text(f"{changed()}\n{line}\n")
    with pytest.raises(LedgerError) as raised:
        read_ledger(path)
    assert str(raised.value).startswith(f"{path}:2: ")
    assert why in str(raised.value)
    assert "\n" not in str(raised.value)


def test_line_ends_of_other_systems_do_no_harm(path):
    path.write_bytes(changed().encode() + b"\r\n")
    assert read_ledger(path) == [opening()]


def test_a_ledger_that_is_too_large(path, monkeypatch):
    monkeypatch.setattr(ledger, "MAX_LEDGER_BYTES", 100)
    path.write_text(changed() + "\n")
    with pytest.raises(LedgerError, match="larger than 100 bytes"):
        read_ledger(path)


@pytest.mark.parametrize("use", [check_ledger, read_ledger, lambda path: append_opening(path, opening())])
def test_a_folder_is_no_ledger(tmp_path, use):
    with pytest.raises(LedgerError, match="not a regular file"):
        use(tmp_path)


@pytest.mark.parametrize("use", [check_ledger, lambda path: append_opening(path, opening())])
def test_a_ledger_in_a_folder_that_is_not_there(tmp_path, use):
    with pytest.raises(LedgerError, match="the ledger cannot be written"):
        use(tmp_path / "nowhere" / "ledger.jsonl")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_is_no_ledger(path):
    os.mkfifo(path)
    with pytest.raises(LedgerError, match="not a regular file"):
        append_opening(path, opening())


def test_checking_makes_no_file(path):
    check_ledger(path)
    assert not path.exists()


def test_a_line_that_cannot_be_written_leaves_the_ledger_as_it_was(path, monkeypatch):
    append_opening(path, opening())
    before = path.read_bytes()

    def full(file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(LedgerError, match="No space left on device"):
        append_opening(path, opening())
    assert path.read_bytes() == before


APPENDING = """
import sys
from pathlib import Path
import msgspec
from pytest_benchbench.gates.ledger import Opening, append_opening

for _ in range(10):
    append_opening(Path(sys.argv[1]), msgspec.json.decode(sys.argv[2], type=Opening))
"""


def test_processes_that_append_together_lose_no_line(path):
    command = [sys.executable, "-c", APPENDING, path, msgspec.json.encode(opening())]
    processes = [subprocess.Popen(command) for _ in range(3)]
    assert [process.wait(120) for process in processes] == [0, 0, 0]
    assert attempts(read_ledger(path)) == list(range(1, 31))


@pytest.mark.skipif(os.name == "nt", reason="files are not locked there")
def test_a_ledger_that_is_replaced_while_its_lock_is_waited_for(path, monkeypatch):
    """As a checkout does it: what is then written into the old file would be lost."""
    append_opening(path, opening())
    holder = os.open(path, os.O_RDWR)
    locked_files.fcntl.flock(holder, locked_files.fcntl.LOCK_EX)

    def replace_and_let_go(_):
        other = path.with_name("other")
        other.write_bytes(path.read_bytes() * 2)
        other.replace(path)
        os.close(holder)

    monkeypatch.setattr(locked_files.time, "sleep", replace_and_let_go)
    assert append_opening(path, opening()) == 3
    assert len(read_ledger(path)) == 3


@pytest.mark.skipif(os.name == "nt", reason="files are not locked there")
def test_a_ledger_that_another_process_holds(path, monkeypatch):
    monkeypatch.setattr(locked_files, "LOCK_SECONDS", 0.1)
    append_opening(path, opening())
    with locked_files.locked_file(path):
        begin = time.monotonic()
        with pytest.raises(LedgerError, match="another process has held the file"):
            append_opening(path, opening())
        assert time.monotonic() - begin >= 0.1
    assert append_opening(path, opening()) == 2


@given(
    st.lists(st.sampled_from([changed().encode(), b"{}", b"\n", b"\r\n", b'"', b"\xff", b"[", b"}", b"1e999"])).map(b"".join)
)
def test_whatever_stands_in_a_ledger_is_read_or_refused_in_one_line(data):
    refused = None
    try:
        found = ledger._parsed(Path("ledger.jsonl"), data)
    except LedgerError as error:
        refused = str(error)
    if refused is None:
        assert all(line == opening() for line in found)
    else:
        assert refused.startswith("ledger.jsonl:")
        assert "\n" not in refused
