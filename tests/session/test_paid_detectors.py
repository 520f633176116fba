"""A run of a paid detector: what it spends, where it stops, and that nothing is paid twice."""

import hashlib
import json

import pytest

# Imported before any inner session, as in conftest.py.
import pytest_benchbench.session.costs
import pytest_benchbench.session.paid_detectors  # noqa: F401
from pytest_benchbench.session.exit_status import INCOMPLETE
from pytest_benchbench.session.merging import merge_runs

CONFTEST = '''
import os, signal
import msgspec
from pytest_benchbench import AdapterDescription, Detection
from pytest_benchbench.adapters.metering import MeteredAdapter, RateLimit, Usage

class VendorOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    plan: str = "starter"
    concurrency: int = 1

class Vendor(MeteredAdapter):
    """Bills by the word; the file billed.txt is the vendor's own book."""

    name = "vendor"
    vendor = "Vendor"
    api_version = "v1"
    media_types = frozenset({"text"})
    network = False
    batch_size = 3
    Options = VendorOptions

    plan_tier = property(lambda self: self.options.plan)
    concurrency = property(lambda self: self.options.concurrency)

    def usage(self, text):
        return Usage(len(text.split()))

    def rate_limit(self):
        return RateLimit(2, 10.0)

    def missing_key(self):
        return "VENDOR_API_KEY"

    def refusal(self, text):
        return Detection("too-small", reason="too short") if len(text.split()) < 2 else None

    def ask(self, sample):
        text = sample.data.decode()
        self.meter.reserve(self.usage(text))
        if "dies" in text and not os.path.exists("died"):
            open("died", "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        if "fails" in text and not os.path.exists("works"):
            self.meter.refund(self.usage(text))
            raise RuntimeError("the vendor broke")
        with open("billed.txt", "a") as file:
            file.write(sample.sha256 + chr(10))
        return {"score": 99.0, "words": self.usage(text).words}

    def detection(self, answer):
        return Detection("scored", score=answer["score"], scorer={"words": answer["words"]})

    def describe(self):
        return AdapterDescription("1", "always AI")

def pytest_benchbench_adapters(registry):
    registry.register(Vendor)
'''

PRICES = """schema_version: 1
currency: USD
prices:
- {adapter: vendor, plan: starter, unit: word, per: 100, price: 10, as_of: 2026-07-10, source: "example, no real price"}
"""


class GoldenSet:
    """Writes a golden set of texts, asks the vendor about it, and reads what was billed."""

    def __init__(self, pytester):
        self.pytester = pytester
        self.path = pytester.path
        (self.path / "prices.yaml").write_text(PRICES)

    def texts(self, *texts):
        """Write samples s-1, s-2, ... with these texts."""
        samples = [
            {
                "id": f"s-{number}",
                "split": "holdout",
                "category": "essay",
                "label": "ai",
                "text": text,
                "provenance": {"kind": "ai", "model": "generator", "date": "2026-01-01", "prompt": "write"},
                "labelOwner": "A",
                "labelSource": "provenance",
                "borderline": False,
                "reviewers": ["B"],
            }
            for number, text in enumerate(texts, 1)
        ]
        head = {"schema_version": 1, "name": "set", "version": "v1", "status": "example", "licenses": ["CC0-1.0"]}
        data = json.dumps({**head, "samples": samples}).encode()
        (self.path / "golden.json").write_bytes(data)
        (self.path / "golden.sha256").write_text(f"{hashlib.sha256(data).hexdigest()}  golden.json\n")

    def ask(self, *arguments, workers=0, run="run", alone=False):
        """Ask the vendor, in a run directory unless the arguments name an earlier one."""
        given = ["golden.json", "--bench-split=holdout", "--bench-html=off", "-p", "no:randomly", "-p", "no:cacheprovider"]
        if not any("--bench-adapter" in argument for argument in arguments):
            given.append("--bench-adapter=vendor")
        if not any("--bench-resume" in argument or "--bench-dry-run" in argument for argument in arguments):
            given.append(f"--bench-run-dir={run}")
        if workers:
            return self.pytester.runpytest_subprocess("-n", str(workers), *given, *arguments)
        run_inner = self.pytester.runpytest_subprocess if alone else self.pytester.runpytest_inprocess
        return run_inner("-p", "no:xdist", *given, *arguments)

    @property
    def billed(self):
        """How often the vendor billed each text that it billed."""
        path = self.path / "billed.txt"
        digests = path.read_text().split() if path.exists() else []
        return sorted(digests.count(digest) for digest in set(digests))

    def rows(self, run="run"):
        return [json.loads(line) for line in (self.path / run / "evidence.jsonl").read_text().splitlines()]

    def costs(self, run="run"):
        return json.loads((self.path / run / "run.json").read_text())["costs"]


@pytest.fixture
def golden(pytester, unremembered):
    pytester.makeconftest(CONFTEST)
    return GoldenSet(pytester)


@pytest.fixture
def four_texts(golden):
    """Four texts of three, two, four and two words, at 10 USD for 100 words."""
    golden.texts("one two three", "four five", "six seven eight nine", "ten eleven")
    return golden


def test_each_distinct_text_is_paid_for_once_and_the_costs_stand_in_run_and_report(golden):
    golden.texts("one two three", "four five", "one two three", "six seven", "four five")
    result = golden.ask("--bench-prices=prices.yaml")
    assert result.ret == 0
    assert golden.billed == [1, 1, 1]
    assert [bool(row["detection"]["scorer"].get("recorded")) for row in golden.rows()] == [False, False, True, False, True]
    (vendor,) = golden.costs()["detectors"]
    assert (vendor["words"], vendor["calls"], vendor["retries"], vendor["cost"]) == (7, 3, 0, "0.70")
    assert vendor["planned"] == {"rows": 5, "texts": 3, "words": 7, "calls": 3, "credits": None, "cost": "0.70"}
    assert vendor["price"] == {
        "unit": "word",
        "per": 100,
        "price": "10.00",
        "as_of": "2026-07-10",
        "source": "example, no real price",
    }
    assert (golden.costs()["currency"], golden.costs()["spent"], golden.costs()["not_asked"]) == ("USD", "0.70", 0)
    result.stdout.fnmatch_lines(["vendor: 3 calls, 7 words, 0.70 USD"])
    report = json.loads((golden.path / "run" / "report.json").read_text())
    assert report["environment"]["costs"] == golden.costs()
    kept = (golden.path / "run" / "responses" / "vendor.jsonl").read_text()
    assert not any(word in kept for word in ("three", "five", "seven"))


def test_a_call_that_would_pass_the_budget_is_not_made_and_a_larger_one_goes_on(four_texts, workers):
    result = four_texts.ask("--bench-prices=prices.yaml", "--bench-budget=0.55", workers=workers)
    assert result.ret == INCOMPLETE
    # 0.30 and 0.20 are spent; the third would cost 0.40, and the fourth, which is shorter, is not asked in its place
    assert {row["key"]["case_id"]: row["outcome"] for row in four_texts.rows()} == {
        "s-1": "measured",
        "s-2": "measured",
        "s-3": "not_run",
        "s-4": "not_run",
    }
    result.stdout.fnmatch_lines(
        [
            "budget: 0.50 of 0.55 USD spent",
            "incomplete: the budget is used up and 2 rows were not asked: * larger --bench-budget and --bench-resume=run",
        ]
    )
    assert four_texts.billed == [1, 1]
    result = four_texts.ask("--bench-resume=run", "--bench-prices=prices.yaml", "--bench-budget=1.10")
    assert result.ret == 0
    assert four_texts.billed == [1, 1, 1, 1]
    assert (four_texts.costs()["spent"], four_texts.costs()["budget"]) == ("1.10", "1.10")
    assert four_texts.costs()["not_asked"] == 0


def test_a_killed_run_that_goes_on_pays_for_nothing_again(golden):
    golden.texts("one two", "three four", "five six", "seven eight", "nine dies", "ten eleven", "twelve thirteen")
    assert golden.ask(alone=True).ret == -9
    assert golden.billed == [1] * 4  # the fourth in the middle of a batch, of whose rows none is in the evidence
    assert len(golden.rows()) == 3
    assert golden.ask("--bench-resume=run").ret == 0
    assert golden.billed == [1] * 7
    assert {row["outcome"] for row in golden.rows() if row["key"]["case_id"] != "s-4"} == {"measured"}
    (vendor,) = golden.costs()["detectors"]
    assert vendor["calls"] == 8  # nobody knows whether the call was billed over which the process died
    assert vendor["cost"] is None


def test_merged_shards_have_the_costs_of_all(four_texts):
    for number in (1, 2):
        shard = (f"--bench-shard={number}/2", "--bench-prices=prices.yaml")
        assert four_texts.ask(*shard, run=f"shard-{number}").ret == 0
    merged = merge_runs([four_texts.path / "shard-1", four_texts.path / "shard-2"], four_texts.path / "run")
    assert merged.exit_status == 0
    assert (four_texts.costs()["spent"], four_texts.costs()["detectors"][0]["calls"]) == ("1.10", 4)
    assert "Spent: 1.10 USD." in (four_texts.path / "run" / "report.md").read_text()


def test_a_retried_row_pays_for_its_own_text_alone(golden):
    golden.texts("one two", "this fails", "three four")
    assert golden.ask().ret == 1
    assert golden.billed == [1, 1]
    (golden.path / "works").touch()
    assert golden.ask("--bench-resume=run", "--bench-retry=error").ret == 0
    assert golden.billed == [1, 1, 1]
    assert golden.costs()["detectors"][0]["calls"] == 3  # the refused call was taken back


def test_a_dry_run_tells_what_it_would_cost_and_makes_nothing(golden):
    golden.texts("one two three", "four five", "one two three", "short")
    result = golden.ask("--bench-dry-run", "--bench-prices=prices.yaml", "--bench-budget=0.4")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "vendor (Vendor, plan starter): 4 rows, 2 texts to send, 1 that it does not take, 5 words, 2 calls",
            "  cost: 0.50 USD, at 10.00 USD for 100 words (as of 2026-07-10, example, no real price)",
            "  time: at least 0 s, at 2 calls in 10 s",
            "  missing: the environment variable VENDOR_API_KEY",
            "budget 0.40 USD: would not do: 0.50 USD are planned, and the run would stop before it passes it",
            "4 planned, 4 would run; nothing was run or written",
        ],
        consecutive=True,
    )
    assert golden.billed == []
    assert not (golden.path / ".benchbench").exists()


def test_a_dry_run_without_prices_says_that_the_cost_is_not_known(four_texts):
    result = four_texts.ask("--bench-dry-run", "--bench-adapter=other=vendor:plan=pro", "-k", "s-1 or s-2 or s-3")
    result.stdout.fnmatch_lines(
        [
            "other (Vendor, plan pro): 3 rows, 3 texts to send, 9 words, 3 calls",
            "  cost: not known without --bench-prices=FILE",
            "  time: at least 10 s, at 2 calls in 10 s",
        ]
    )
    result = four_texts.ask("--bench-dry-run", "--bench-adapter=other=vendor:plan=pro", "--bench-prices=prices.yaml")
    result.stdout.fnmatch_lines(["  cost: not known: prices.yaml has no price of vendor with plan pro"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--bench-budget=2"], "--bench-budget=2: what calls cost is not known: give --bench-prices=FILE too"),
        (["--bench-budget=-2"], "--bench-budget=-2: expected an amount of money such as 12.50"),
        (["--bench-budget=nan", "--bench-prices=prices.yaml"], "--bench-budget=nan: expected an amount of money"),
        (
            ["--bench-budget=2", "--bench-prices=prices.yaml", "--bench-adapter=vendor:plan=pro"],
            "--bench-budget=2: prices.yaml has no price of vendor with plan 'pro' (vendor): add one, or",
        ),
        (["--bench-prices=nowhere.yaml"], "--bench-prices: nowhere.yaml: cannot be read: No such file or directory"),
        (["--bench-prices=undated.yaml"], "--bench-prices: undated.yaml: prices[[]0].as_of: is missing: write the day"),
        (["--bench-prices=credits.yaml"], "credits.yaml: prices[[]0].unit: vendor does not bill by the credit"),
    ],
)
def test_faults_of_use_end_before_anything_is_asked(four_texts, arguments, said):
    (four_texts.path / "undated.yaml").write_text(PRICES.replace("as_of: 2026-07-10, ", ""))
    (four_texts.path / "credits.yaml").write_text(PRICES.replace("unit: word", "unit: credit"))
    result = four_texts.ask(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: *{said}*"])
    assert four_texts.billed == []
    assert not (four_texts.path / "run").exists()


@pytest.mark.parametrize("name", ["spending.jsonl", "responses/vendor.jsonl"])
def test_a_damaged_book_is_told_before_anything_is_asked_again(four_texts, name):
    four_texts.ask("--bench-prices=prices.yaml", "--bench-budget=0.55")
    with (four_texts.path / "run" / name).open("ab") as file:
        file.write(b"{}\n")
    result = four_texts.ask("--bench-resume=run")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --bench-resume: *{name}:3: *"])
    assert four_texts.billed == [1, 1]


def test_the_configuration_can_name_prices_and_budget(four_texts):
    four_texts.pytester.makeini("[pytest]\nbench_prices = prices.yaml\nbench_budget = 0.4\n")
    assert four_texts.ask().ret == INCOMPLETE
    assert four_texts.costs()["spent"] == "0.30"
