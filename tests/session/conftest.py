"""An ordinary project with toy detectors, to be run by an inner pytest."""

import hashlib
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Imported before any inner session: pytester forgets modules that an inner session imports first, and NumPy cannot be
# imported twice.
import PIL.Image
import pytest

import pytest_benchbench.adapters.dwt_dct
import pytest_benchbench.reports.html.whole
import pytest_benchbench.session.conclusion
import pytest_benchbench.session.recorder
import pytest_benchbench.session.reporting
import pytest_benchbench.session.resuming
import pytest_benchbench.session.worker  # noqa: F401

PIL.Image.init()

CONFTEST = """
    import os, signal
    from pytest_benchbench import Adapter, AdapterDescription, AdapterUnavailable, BatchAdapter, Detection
    import msgspec

    class ToyOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
        flip: bool = False

    class Toy(Adapter):
        '''Answers what the file says.'''
        name = "toy"
        media_types = frozenset({"image"})
        needs = "bytes"
        Options = ToyOptions

        def detect(self, sample):
            word = sample.data.decode().split()[0]
            if word == "raise":
                raise RuntimeError("the detector broke")
            if word == "interrupt":
                raise KeyboardInterrupt
            if word == "exit":
                os._exit(3)
            if word == "once":  # dies at the first try only
                flag = sample.data.decode().split()[1]
                if not os.path.exists(flag):
                    open(flag, "w").close()
                    os._exit(3)
                word = "detected"
            if self.options.flip:
                word = {"detected": "not_detected", "not_detected": "detected"}[word]
            return Detection(word, reason="says the file")

        def describe(self):
            return AdapterDescription("1", "what the file says")

    class Absent(Toy):
        name = "absent"

        def load(self):
            raise AdapterUnavailable("no weights here", install="fetch weights")

    class Flaky(Toy):
        '''Changes its mind at every call.'''
        name = "flaky"
        calls = 0

        def detect(self, sample):
            Flaky.calls += 1
            return Detection("not_detected" if Flaky.calls % 2 else "detected")

    class Waves(BatchAdapter):
        name = "waves"
        media_types = frozenset({"image"})
        needs = "bytes"
        batch_size = 4

        def detect_batch(self, samples):
            with open("waves.txt", "a") as file:
                print(len(samples), file=file)
            words = [sample.data.decode().split()[0] for sample in samples]
            if "exit" in words:
                os._exit(3)
            return [Detection(word) for word in words]

        def describe(self):
            return AdapterDescription("1", "what the file says")

    def pytest_benchbench_adapters(registry):
        for adapter in (Toy, Absent, Flaky, Waves):
            registry.register(adapter)
"""

SCORERS = """
    import hashlib, json, os
    from pytest_benchbench import Adapter, AdapterDescription, AdapterUnavailable, BatchAdapter, Detection, Weights
    import msgspec

    class ScorerOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
        weights: str = "first"

    def answer(data):
        word = data.decode().split()[0]
        if word == "raise":
            raise RuntimeError("the scorer broke")
        if word == "exit":
            os._exit(3)
        if word == "nan":
            return Detection("scored", score=0.5, scorer={"rawScore": float("nan")})
        if word == "huge":
            return Detection("scored", score=0.5, scorer={"crops": "x" * 20_000_000})
        try:
            return Detection("scored", score=float(word), scorer={"rawScore": float(word) / 2})
        except ValueError:
            return Detection(word)

    class Scorer(Adapter):
        '''Answers what the file says: a score or a status.'''
        name = "scorer"
        media_types = frozenset({"image"})
        needs = "bytes"
        Options = ScorerOptions

        def detect(self, sample):
            return answer(sample.data)

        def describe(self):
            sha256 = hashlib.sha256(self.options.weights.encode()).hexdigest()
            return AdapterDescription("1", "what the file says", (Weights("model", sha256),))

    class Other(Scorer):
        name = "other"

    class Absent(Scorer):
        name = "absent"

        def load(self):
            raise AdapterUnavailable("no weights here")

    class Sounds(Scorer):
        name = "sounds"
        media_types = frozenset({"audio"})

    class Nosy(Scorer):
        '''Tells all that it is shown.'''
        name = "nosy"

        def detect(self, sample):
            shown = {name: repr(getattr(sample, name)) for name in sample.__slots__}
            return Detection("scored", score=0.5, scorer={"shown": shown})

    class Waves(BatchAdapter):
        name = "waves"
        media_types = frozenset({"image"})
        needs = "bytes"
        batch_size = 4

        def detect_batch(self, samples):
            return [answer(sample.data) for sample in samples]

        def describe(self):
            return AdapterDescription("1", "what the file says")

    def pytest_benchbench_adapters(registry):
        for adapter in (Scorer, Other, Absent, Sounds, Nosy, Waves):
            registry.register(adapter)
"""


class Project:
    """Writes cases, runs pytest, reads what the run left."""

    def __init__(self, pytester):
        self.pytester = pytester
        self.rows = []

    @property
    def path(self):
        return self.pytester.path

    def case(self, case_id, says="detected", **fields):
        """Add a case whose file says what the toy detector will answer."""
        data = f"{says} about {case_id}".encode()
        file = self.path / f"{hashlib.sha256(case_id.encode()).hexdigest()[:12]}.bin"
        file.write_bytes(data)
        row = {
            "schema_version": 1,
            "case_id": case_id,
            "pair_id": case_id,
            "media_type": "image",
            "adapter": "toy",
            "arm": "positive",
            "state": "marked",
            "path": file.name,
            "sha256": hashlib.sha256(data).hexdigest(),
            "reference_path": None,
            "reference_sha256": None,
            "source_revision": "toy@1",
            "transform": {"name": "none", "revision": "1", "parameters": {}},
            "seed": None,
            "expected": "detected",
        }
        self.rows.append(row | fields)
        return self.rows[-1]

    def cases(self, *said, **fields):
        """Write cases cat-01, cat-02, ... whose files say this."""
        for number, says in enumerate(said, 1):
            self.case(f"cat-{number:02}", says, **fields)
        self.write()

    def write(self, name="cases.jsonl", rows=None):
        """Write the cases added so far (or these rows) as a manifest."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in (self.rows if rows is None else rows)))
        return path

    def run(self, *arguments, workers=0):
        """Run the inner pytest: in this process, or in one of its own with workers."""
        return self.call("--bench-run-dir=run", *arguments, workers=workers)

    def resume(self, *arguments, workers=0):
        """Go on with the run that ``run`` began."""
        return self.call("--bench-resume=run", *arguments, workers=workers)

    def call(self, *arguments, workers=0):
        """Run the inner pytest with these arguments alone."""
        arguments = ("-p", "no:randomly", *map(str, arguments))
        if workers:
            return self.pytester.runpytest_subprocess("-n", str(workers), *arguments)
        return self.pytester.runpytest_inprocess("-p", "no:xdist", *arguments)

    def alone(self, *arguments):
        """Run the inner pytest in a process of its own, without workers."""
        return self.pytester.runpytest_subprocess("-p", "no:xdist", "-p", "no:randomly", *arguments)

    def kill(self, *arguments):
        """Begin a run that a row which says ``exit`` ends at once, its process too."""
        result = self.alone("--bench-run-dir=run", "cases.jsonl", *arguments)
        assert result.ret == 3

    @property
    def evidence(self):
        return [json.loads(line) for line in (self.path / "run" / "evidence.jsonl").read_text().splitlines()]

    @property
    def outcomes(self):
        """The outcome of each line of evidence by case id; of the last line where there are several."""
        return {row["key"]["case_id"]: row["outcome"] for row in self.evidence}

    @property
    def tried(self):
        """Case id and attempt of every line of the evidence, in its order."""
        return [(row["key"]["case_id"], row["key"]["attempt"]) for row in self.evidence]

    @property
    def results(self):
        """What the report says was observed, as text: the same observations give the same."""
        return json.dumps(self.document("report.json")["results"])

    def document(self, name):
        return json.loads((self.path / "run" / name).read_text())


class Dataset(Project):
    """Writes labelled images, and scores them."""

    def image(self, image_id, says=0.5, **fields):
        """Add an image whose file says what a scorer will answer; a field that is ``None`` is left out."""
        data = f"{says} about {image_id}".encode()
        (self.path / f"{image_id}.bin").write_bytes(data)
        row = {
            "id": image_id,
            "baseId": f"base-of-{image_id}",
            "sha256": hashlib.sha256(data).hexdigest(),
            "label": 0,
            "split": "test",
            "source": "camera",
            "contentGroup": "photo",
            "transform": "none",
            "license": "CC0-1.0",
            "path": f"{image_id}.bin",
        } | fields
        self.rows.append({name: value for name, value in row.items() if value is not None})

    def images(self, *said, **fields):
        """Write the manifest of images img-1, img-2, ... whose files say this."""
        for number, says in enumerate(said, 1):
            self.image(f"img-{number}", says, **fields)
        self.write("dataset.jsonl")

    def score(self, *arguments, run="run", workers=0):
        """Score ``dataset.jsonl``: the test split, by the adapter ``scorer``, unless the arguments say otherwise."""
        given = [f"--bench-run-dir={run}", "--bench-split=test", "--bench-adapter=scorer"]
        if any("--bench-resume" in argument for argument in arguments):
            del given[0]
        names = {argument.partition("=")[0] for argument in arguments}
        missing = [argument for argument in given if argument.partition("=")[0] not in names]
        return self.call("dataset.jsonl", *missing, *arguments, workers=workers)

    @property
    def statuses(self):
        """The status of each line of evidence by case id."""
        return {row["key"]["case_id"]: row["detection"]["status"] for row in self.evidence}

    @property
    def ledger(self):
        """The lines of the ledger."""
        path = self.path / "benchbench-ledger.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def attempt(self, run="run"):
        """Which attempt at the test split a run says to be."""
        return json.loads((self.path / run / "run.json").read_text()).get("opening", {}).get("attempt")


READERS = """
    import os
    from pytest_benchbench import Adapter, AdapterDescription, BatchAdapter, Detection

    class Reader(Adapter):
        '''Scores a text by the number that it begins with.'''
        name = "reader"
        media_types = frozenset({"text"})

        def detect(self, sample):
            return Detection("scored", score=float(sample.decoded.text.split()[0]), scorer={"words": 3})

        def describe(self):
            return AdapterDescription("1", "what the text says")

    class Undecided(Reader):
        name = "undecided"

        def detect(self, sample):
            return Detection("detected")

    class Chatty(Reader):
        '''Quotes the text wherever it can, and prints it.'''
        name = "chatty"

        def detect(self, sample):
            text = sample.decoded.text
            print(text)
            more = {"scorer": {"raw": {text: [text]}}, "temporal": {"t": text}}
            return Detection("scored", score=1.0, label=text, reason=text, **more)

    class Crashing(Reader):
        name = "crashing"

        def detect(self, sample):
            text = sample.decoded.text
            print(text)
            raise ValueError(f"cannot score {text!r}: {sample!r}") from KeyError(sample.data)

    class Dying(Reader):
        name = "dying"

        def detect(self, sample):
            print(sample.decoded.text, flush=True)
            os._exit(3)

    class Batches(BatchAdapter):
        '''Fails over all samples of a call for the last of them.'''
        name = "batches"
        media_types = frozenset({"text"})
        batch_size = 3

        def detect_batch(self, samples):
            print([sample.data for sample in samples])
            raise LookupError(samples[-1].decoded.text)

        def describe(self):
            return AdapterDescription("1", "fails")

    def pytest_benchbench_adapters(registry):
        for adapter in (Reader, Undecided, Chatty, Crashing, Dying, Batches):
            registry.register(adapter)
"""


class Golden(Project):
    """Writes frozen golden sets, and scores them."""

    def sample(self, sample_id, says, split="holdout", **fields):
        """Add a generated sample whose text begins with the score that a reader answers."""
        provenance = {"kind": "ai", "model": "template-1", "date": "2026-04-16", "prompt": "Write PRIVATEPROMPT."}
        sample = {
            "id": sample_id,
            "split": split,
            "category": "essay",
            "label": "ai",
            "text": f"{says} CANARY-{sample_id} sings of the harbour,\nand nobody hears CANARY-{sample_id}.",
            "provenance": provenance,
            "labelOwner": "PRIVATEOWNER",
            "labelSource": "provenance",
            "borderline": False,
            "reviewers": ["PRIVATEREVIEWER"],
        }
        self.rows.append(sample | fields)

    def samples(self, *said, name="golden.json", **fields):
        """Write a frozen set of samples text-1, text-2, ... of the split holdout, and one of the split tune."""
        self.sample("text-tune", 10, "tune", **fields)
        for number, says in enumerate(said, 1):
            self.sample(f"text-{number}", says, **fields)
        self.freeze(name)

    def freeze(self, name="golden.json"):
        """Write the samples added so far as a golden set, with its digest beside it."""
        head = {"schema_version": 1, "name": "harbours", "version": "v1", "status": "final", "licenses": ["CC0-1.0"]}
        data = json.dumps(head | {"samples": self.rows}, indent=1).encode()
        path = self.path / name
        path.write_bytes(data)
        path.with_suffix(".sha256").write_text(f"{hashlib.sha256(data).hexdigest()}  {name}\n")

    def score(self, *arguments, run="run", manifest="golden.json", workers=0):
        """Score a set: the split holdout, by the adapter ``reader``, unless the arguments say otherwise."""
        given = [f"--bench-run-dir={run}", "--bench-split=holdout", "--bench-adapter=reader"]
        if any("--bench-resume" in argument for argument in arguments):
            del given[0]
        names = {argument.partition("=")[0] for argument in arguments}
        missing = [argument for argument in given if argument.partition("=")[0] not in names]
        return self.call(*([manifest] if manifest else []), *missing, *arguments, workers=workers)


@pytest.fixture
def golden(pytester, unremembered):
    pytester.makeconftest(READERS)
    return Golden(pytester)


@pytest.fixture
def unremembered(monkeypatch):
    # a file that is written again within a second and with as many bytes would be run by its old bytecode
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")


@pytest.fixture
def project(pytester, unremembered):
    pytester.makeconftest(CONFTEST)
    return Project(pytester)


@pytest.fixture
def dataset(pytester, unremembered):
    pytester.makeconftest(SCORERS)
    return Dataset(pytester)


@pytest.fixture(params=[0, 2], ids=["one-process", "two-workers"])
def workers(request):
    return request.param


@pytest.fixture
def faulty(project):
    """A run with an answer, an error and an unavailable adapter."""
    project.case("cat-01")
    project.case("cat-02", "raise")
    project.case("cat-03", adapter="absent")
    project.write()
    assert project.run("cases.jsonl").ret == 1
    return project


@pytest.fixture
def begun(project):
    """A run of which one row is missing."""
    project.cases("detected", "detected")
    project.run("cases.jsonl", "-k", "cat-01")
    return project


@pytest.fixture(scope="module")
def server():
    """A web server on this machine; gives its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"hello")

        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as served:
        thread = threading.Thread(target=served.serve_forever)
        thread.start()
        yield served.server_address[1]
        served.shutdown()
        thread.join()
