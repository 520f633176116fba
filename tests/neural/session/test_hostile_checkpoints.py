"""Code in a checkpoint is not run, whatever a user accepts."""

import hashlib
import json
import os
import pickle
import struct

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("audioseal")
pytest.importorskip("perth")


class Command:
    """Runs a command of the system wherever it is unpickled."""

    def __init__(self, command):
        self.command = command

    def __reduce__(self):
        return os.system, (self.command,)


def sound():
    data = bytes(32_000)
    head = struct.pack(
        "<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16, 1, 1, 16000, 32000, 2, 16, b"data", len(data)
    )
    return head + data


@pytest.mark.parametrize(
    "save", [torch.save, lambda value, path: path.write_bytes(pickle.dumps(value))], ids=["zip", "bare"]
)
def test_a_run_with_a_pickled_command_for_a_checkpoint_is_an_error(pytester, save):
    here = pytester.path
    save({"model": Command(f"touch '{here}/made'")}, here / "evil.pth")
    (here / "a.wav").write_bytes(sound())
    row = {
        "schema_version": 1,
        "pair_id": "a",
        "media_type": "audio",
        "arm": "positive",
        "state": "marked",
        "path": "a.wav",
        "sha256": hashlib.sha256(sound()).hexdigest(),
        "reference_path": None,
        "reference_sha256": None,
        "source_revision": "test",
        "transform": {"name": "none", "revision": "1", "parameters": {}},
        "seed": None,
        "expected": "unresolved",
    }
    adapters = ("audioseal", "perth")
    (here / "cases.jsonl").write_text(
        "".join(json.dumps(row | {"case_id": name, "adapter": name}) + "\n" for name in adapters)
    )
    options = [f"--bench-adapter={name}:weights=evil.pth,allow_unpinned=true" for name in adapters]
    result = pytester.runpytest_subprocess("-p", "no:randomly", "cases.jsonl", "--bench-run-dir=run", *options)
    assert result.ret == 1
    rows = [json.loads(line) for line in (here / "run" / "evidence.jsonl").read_text().splitlines()]
    assert [row["error"]["type"] for row in rows] == ["CheckpointError"] * 2
    assert not (here / "made").exists()
