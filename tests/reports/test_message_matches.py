"""Bits of messages that agree, against pandas and scipy; and where the number of bits is believed."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from scipy.stats import binom

from pytest_benchbench.adapters.audioseal import decide
from pytest_benchbench.adapters.patterns import FLUX2, SD1, SDXL, recognise
from pytest_benchbench.adapters.seal_rule import recognise as recognise_seal
from pytest_benchbench.evidence.observation import DetectionRecord
from pytest_benchbench.reports.message_bits import message_bits

KEYS = ["suite", "params", "adapter", "state", "transform", "bits"]

matches = st.lists(
    st.sampled_from([16, 48, 256]).flatmap(
        lambda bits: st.fixed_dictionaries(
            {
                "bits": st.just(bits),
                "equal": st.integers(0, bits),
                "adapter": st.sampled_from(["x", "y"]),
                "params": st.just("q75"),
                "state": st.sampled_from(["marked", "attacked"]),
                "transform": st.sampled_from(["jpeg", "crop"]),
                "status": st.sampled_from(["detected", "not_detected"]),
                "spelled": st.booleans(),
            }
        )
    ),
    min_size=1,
    max_size=30,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(drawn=matches, random=st.randoms(use_true_random=False))
def test_matches_agree_with_pandas_and_scipy_in_any_order(row, report, drawn, random):
    rows = []
    for i, one in enumerate(drawn):
        bits, equal, spelled = (one[name] for name in ("bits", "equal", "spelled"))
        told = {"reason": f"{equal}/{bits} bits of x"} if spelled else {"scorer": {"message_bits": bits}}
        rest = {name: one[name] for name in ("adapter", "params", "state", "transform", "status")}
        rows.append(row(f"c{i}", message_bit_accuracy=equal / bits, **told, **rest))
    lines = report(rows)["results"]["message_matches"]
    frame = pd.DataFrame(drawn).assign(suite="suite.py::test_detection")
    frame["log10_p"] = binom.logsf(frame["equal"] - 1, frame["bits"], 0.5) / np.log(10)
    by_key = frame.groupby(KEYS)
    assert [tuple(line[key] for key in KEYS) for line in lines] == sorted(by_key.groups)
    for line in lines:
        here = by_key.get_group(tuple(line[key] for key in KEYS))
        assert line["rows"] == len(here)
        median = int(np.percentile(here["equal"], 50, method="inverted_cdf"))
        assert line["equal"] == {"min": here["equal"].min(), "median": median, "max": here["equal"].max()}
        of_median = here.loc[here["equal"] == median, "log10_p"].iloc[0]
        expected = {"min": here["log10_p"].min(), "median": of_median, "max": here["log10_p"].max()}
        assert line["log10_p"] == pytest.approx(expected, rel=1e-9, abs=1e-12)
    random.shuffle(rows)
    assert report(rows)["results"]["message_matches"] == lines


def test_an_accuracy_of_unknown_bits_is_counted_and_has_no_chance(row, report):
    rows = [row("a", message_bit_accuracy=0.75), row("b", message_bit_accuracy=0.75, reason="36/48 bits")]
    unknown, known = report(rows)["results"]["message_matches"]
    assert (unknown["bits"], unknown["rows"], unknown["equal"], unknown["log10_p"]) == (None, 1, None, None)
    assert (known["bits"], known["rows"], known["equal"]["median"]) == (48, 1, 36)


@pytest.mark.parametrize("status", ["error", "unavailable"])
def test_a_row_without_a_verdict_matches_nothing(row, report, status):
    rows = [row("a", status=status, message_bit_accuracy=1.0, reason="48/48 bits")]
    assert report(rows)["results"]["message_matches"] == []


def bits_of(**detection):
    return message_bits(DetectionRecord(status="detected", adapter_elapsed_ms=None, call=None, **detection))


@pytest.mark.parametrize(
    ("accuracy", "told", "bits"),
    [
        (0.75, {"reason": "36/48 bits of sdxl"}, 48),
        (0.75, {"reason": "96 of 100 samples above 0.5, 12/16 bits"}, 16),
        (2 / 3, {"reason": "2/3 bits"}, 3),
        (0.75, {"scorer": {"message_bits": 256}}, 256),
        (0.75, {"scorer": {"message_bits": 256}, "reason": "36/48 bits"}, 256),
        (0.75, {"scorer": {"evaluationMode": "deployed"}, "reason": "36/48 bits"}, 48),
        (0.75, {}, 0),
        (None, {"reason": "36/48 bits"}, 0),
        (0.75, {"reason": "35/48 bits"}, 0),  # another comparison than that of the accuracy
        (0.75, {"reason": "3/4 frames, the mark was found"}, 0),
        (0.75, {"reason": "1,036/48 bits"}, 0),
        (0.0, {"reason": "0/0 bits"}, 0),
        (0.75, {"scorer": {"message_bits": 50}}, 0),  # 37.5 bits cannot agree
        (0.75, {"scorer": {"message_bits": "256"}}, 0),
        (1.0, {"scorer": {"message_bits": True}}, 0),
        (0.75, {"scorer": {"message_bits": -4}}, 0),
        (1.0, {"scorer": {"message_bits": 10**30}}, 0),
    ],
)
def test_a_number_of_bits_is_believed_where_it_fits(accuracy, told, bits):
    assert bits_of(message_bit_accuracy=accuracy, **told) == bits


@pytest.mark.parametrize("pattern", [SDXL, FLUX2, SD1])
@pytest.mark.parametrize("flipped", [0, 1, 7, 20])
def test_what_built_in_adapters_of_patterns_say_is_understood(pattern, flipped):
    payload = np.array(pattern.bits, dtype=bool)
    payload[:flipped] ^= True
    detection = recognise({len(pattern.bits): payload}, [pattern])
    assert bits_of(message_bit_accuracy=detection.message_bit_accuracy, reason=detection.reason) == len(pattern.bits)


def test_what_seal_adapters_say_is_understood():
    detection = recognise_seal(np.zeros(256, dtype=bool))
    assert bits_of(message_bit_accuracy=detection.message_bit_accuracy, reason=detection.reason) == 256


def test_what_audioseal_says_is_understood():
    detection = decide(np.linspace(0, 1, 16_000), np.linspace(0, 1, 16))
    assert bits_of(message_bit_accuracy=detection.message_bit_accuracy, reason=detection.reason) == 16
