"""Whole runs against vendors that mean no good, and runs that die over a call: bounded, counted, and told in a line."""

import gzip
import json
import os
import signal
from pathlib import Path
from xml.etree import ElementTree

import trustme

from pytest_benchbench.session.exit_status import INCOMPLETE

WHERE_ASKED = """
import os, pathlib

def pytest_runtest_setup(item):
    pathlib.Path("asking.pid").write_text(str(os.getpid()))
"""

PRICES = """schema_version: 1
currency: USD
prices:
- {adapter: gptzero, plan: starter, unit: word, per: 86, price: 1, as_of: 2026-07-10, source: "example, no real price"}
"""
"""The price of each of the texts is 1."""


def kill_who_asks(path):
    """Make an act of a vendor over which the process dies that asked."""

    def act(documented):
        os.kill(int((path / "asking.pid").read_text()), signal.SIGKILL)
        return documented

    return act


def told_nothing(project, result, keys):
    """Check that no key and nothing of a text was written or printed."""
    for where, text in (*project.written(), ("stdout", result.stdout.str()), ("stderr", result.stderr.str())):
        assert "quiet herons" not in text, where
        assert keys["GPTZERO_API_KEY"][-12:] not in text, where


def gptzero(project, **options):
    given = {"plan": "starter", "concurrency": 1, "retries": 0, **options}
    return f"--bench-adapter=gptzero:{','.join(f'{name}={value}' for name, value in given.items())},{project.reached}"


def test_an_answer_that_never_ends_a_bomb_and_a_way_elsewhere_are_errors(project, vendors, player, keys):
    project.texts(4)
    vendors.play(
        [
            player.Act(body=b"[" * 9_000_000, length=2**40),
            player.Act(body=gzip.compress(b"[" * 50_000_000), headers={"Content-Encoding": "gzip"}),
            player.Act(308, headers={"Location": "https://elsewhere.invalid/quiet"}),
        ]
    )
    result = project.run(gptzero(project), "--junitxml=junit.xml", network="loopback")
    assert result.ret == 1, result.stdout.str()
    errors = {row["key"]["case_id"]: row["error"]["message"] for row in project.rows if row["outcome"] == "error"}
    assert len(errors) == 3
    for case, said in (("s-0", "an answer of more than 8388608 bytes"), ("s-1", "compressed"), ("s-2", "308")):
        assert said in errors[case]
        assert "\n" not in errors[case]
        result.stdout.fnmatch_lines([f"*{case}*error*"])
    assert [row["outcome"] for row in project.rows if row["key"]["case_id"] == "s-3"] == ["measured"]
    assert len(vendors.asked) == 4
    (suite,) = ElementTree.parse(project.path / "junit.xml").iter("testsuite")
    assert int(suite.get("tests")) == 4
    assert int(suite.get("failures")) + int(suite.get("errors")) == 3
    told_nothing(project, result, keys)


def test_a_dripping_answer_is_an_error_in_time(project, vendors, player):
    project.texts(1)
    project.reached = project.reached.replace("timeout=30", "timeout=0.4")
    vendors.play([player.Act(body=b" " * 10_000, manner="dripping")])
    result = project.run(gptzero(project), network="loopback")
    assert result.ret == 1
    (row,) = project.rows
    assert row["outcome"] == "error"
    assert "no whole answer within 0.4 s" in row["error"]["message"]


def test_nothing_is_sent_to_who_has_a_certificate_of_another_authority(project, vendors):
    project.texts(2)
    trustme.CA().cert_pem.write_to_path(project.path / "other.pem")
    project.reached = f"base_url={vendors.url},ca_file=other.pem"
    result = project.run(gptzero(project), network="loopback")
    assert result.ret == 1
    assert [row["outcome"] for row in project.rows] == ["error", "error"]
    assert all("certificate verify failed" in row["error"]["message"] for row in project.rows)
    assert vendors.asked == []


def test_a_run_that_is_killed_over_a_call_asks_that_one_alone_again_and_counts_both(project, vendors, keys):
    project.texts(5)
    project.pytester.makeconftest(WHERE_ASKED)
    (project.path / "prices.yaml").write_text(PRICES)
    documented = lambda act: act  # noqa: E731
    vendors.play([documented, documented, kill_who_asks(project.path)])
    assert project.run(gptzero(project), "--bench-prices=prices.yaml", network="loopback").ret == -signal.SIGKILL
    assert len(vendors.asked) == 3
    result = project.run(gptzero(project), "--bench-prices=prices.yaml", "--bench-resume=run", network="loopback")
    assert result.ret == 0, result.stdout.str()
    result.stdout.fnmatch_lines(["gptzero: 6 calls, 516 words, 6.00 USD", "5 rows: 5 measured"])
    sent = [asked.document["document"] for asked in vendors.asked]
    assert len(sent) == 6
    assert len(set(sent)) == 5
    costs = json.loads((project.path / "run" / "run.json").read_text())["costs"]
    assert (costs["detectors"][0]["calls"], costs["spent"]) == (6, "6.00")
    told_nothing(project, result, keys)


def test_a_budget_holds_over_calls_at_a_time_and_workers(project, vendors, keys):
    project.texts(8)
    (project.path / "prices.yaml").write_text(PRICES)
    budget = ("--bench-prices=prices.yaml", "--bench-budget=3.50")
    result = project.run(gptzero(project, concurrency=4), *budget, workers=2, network="loopback")
    assert result.ret == INCOMPLETE, result.stdout.str()
    assert len(vendors.asked) == 3
    assert sorted(row["outcome"] for row in project.rows) == ["measured"] * 3 + ["not_run"] * 5
    result.stdout.fnmatch_lines(["budget: 3.00 of 3.50 USD spent", "incomplete: the budget is used up and 5 rows*"])
    told_nothing(project, result, keys)


def test_a_worker_that_dies_over_a_call_each_time_leaves_an_error_and_tells_nothing(project, vendors, keys):
    project.texts(3)
    project.pytester.makeconftest(WHERE_ASKED)
    vendors.play([kill_who_asks(project.path)] * 2)
    result = project.run(
        gptzero(project), "-vv", "-rA", "--showlocals", "--junitxml=junit.xml", workers=2, network="loopback"
    )
    assert result.ret not in (0, -signal.SIGKILL), result.stdout.str()
    outcomes = {row["key"]["case_id"]: row["outcome"] for row in project.rows}
    assert outcomes["s-0"] == "error"
    assert set(outcomes.values()) <= {"error", "measured"}
    assert Path(project.path / "junit.xml").is_file()
    told_nothing(project, result, keys)
