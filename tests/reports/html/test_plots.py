"""Plots: well-formed, inside their frame, without colours, and with the numbers of the report."""

import re
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.reports.html import plots as module
from pytest_benchbench.reports.html.plots import (
    confusion_svg,
    histogram_svg,
    latency_svg,
    plots_css,
    reliability_svg,
    report_plots,
    robustness_svg,
    transitions_svg,
)
from pytest_benchbench.reports.html.svg import counted
from pytest_benchbench.statistics.intervals import wilson_interval

SERIES = {"suite": "s.py::t", "params": None, "adapter": "dwt-dct"}

_NUMBERS = ("x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "width", "height", "r")

CLASSES = set(re.findall(r"\.([a-z][a-z-]+)", re.sub(r"/\*.*?\*/", "", plots_css(), flags=re.S)))
"""Those that have a look."""

_ALLOWED = {*_NUMBERS, "class", "points", "text-anchor", "viewBox", "role"}


def rate(k, n):
    low, high = wilson_interval(k, n) or (None, None)
    return {"k": k, "n": n, "rate": k / n if n else None, "wilson95_low": low, "wilson95_high": high}


def checked(svg):
    """Parse a plot, and hold what is true of each: attributes, classes, coordinates, words for who cannot see it."""
    root = ElementTree.fromstring(str(svg))
    assert root.get("role") == "img"
    assert [child.tag.rpartition("}")[2] for child in root[:2]] == ["title", "desc"]
    assert all(child.text for child in root[:2])
    _, _, width, height = map(float, root.get("viewBox").split())
    classes = set()
    for element in root.iter():
        assert set(element.attrib) <= _ALLOWED
        classes.update(element.get("class", "").split())
        if element is root:
            continue
        places = {name: float(element.get(name)) for name in _NUMBERS if element.get(name) is not None}
        for point in (element.get("points") or "").split():
            x, y = map(float, point.split(","))
            assert 0 <= x <= width
            assert 0 <= y <= height
        for name, value in places.items():
            assert 0 <= value <= (width if "x" in name or name == "width" else height), (element.attrib, name)
        if "width" in places:
            assert places["x"] + places["width"] <= width + 0.2
            assert places["y"] + places["height"] <= height + 0.2
    assert classes <= CLASSES | {"bb-plot", root.get("class").split()[1]}
    return root


def texts(root):
    return [element.text for element in root.iter() if element.tag.endswith("}text")]


def marks(root):
    return [element for element in root.iter() if "bb-mark" in element.get("class", "")]


COUNTS = st.integers(0, 2**53)
NAMES = st.text(max_size=60)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
SHARES = st.floats(0, 1)
RATES = st.tuples(COUNTS, COUNTS).map(lambda pair: rate(min(pair), max(pair)))


@st.composite
def confusion_lines(draw):
    expected = draw(st.sampled_from([("detected",), ("not_detected",), ("detected", "not_detected")]))
    observed = st.fixed_dictionaries({"detected": COUNTS, "not_detected": COUNTS, "no_verdict": COUNTS})
    return [{**SERIES, "expected": each, **draw(observed)} for each in expected]


@given(confusion_lines(), NAMES)
def test_confusions(lines, name):
    svg = confusion_svg(lines, name)
    rows = [line for line in lines if line["detected"] + line["not_detected"] + line["no_verdict"]]
    assert bool(svg) == bool(rows)
    if svg:
        shown = texts(root := checked(svg))
        told = {text.strip() for text in root.itertext()}  # a number too long for its cell is told whole
        for line in rows:
            assert {f"{line[observed]:,}" for observed in ("detected", "not_detected", "no_verdict")} <= told
        assert shown.count("as expected") == shown.count("otherwise") == len(rows)


@st.composite
def transition_lines(draw):
    parts = ("kept", "lost", "gained", "absent", "undecided")
    found = []
    for transform in draw(st.lists(st.none() | NAMES, max_size=25)):
        counts = {part: draw(COUNTS) for part in parts}
        found.append(
            {**SERIES, "transform": transform, "from": "marked", "to": "removed", "pairs": sum(counts.values()), **counts}
        )
    return found


@given(transition_lines(), NAMES)
def test_transitions(lines, name):
    svg = transitions_svg(lines, name)
    lines = [line for line in lines if line["pairs"]]
    assert bool(svg) == bool(lines)
    if svg:
        shown = texts(checked(svg))
        assert len([text for text in shown if text.startswith("n = ")]) == min(len(lines), 20)
        assert (f"{len(lines) - 20} more transforms are in the table." in shown) == (len(lines) > 20)


@st.composite
def histogram_lines(draw):
    lines = []
    for state in draw(st.lists(st.none() | NAMES, min_size=1, max_size=14)):
        edges = sorted(draw(st.lists(FINITE, min_size=21, max_size=21)))
        counts = draw(st.lists(COUNTS, min_size=20, max_size=20))
        lines.append({**SERIES, "quantity": "score", "state": state, "edges": edges, "counts": counts})
    return lines


@given(histogram_lines(), NAMES)
def test_histograms(lines, name):
    svg = histogram_svg(lines, name)
    lines = [line for line in lines if sum(line["counts"])]
    assert bool(svg) == bool(lines)
    if svg:
        root = checked(svg)
        bars = [element for element in root.iter() if element.get("class") == "bb-bar"]
        assert len(bars) == sum(sum(map(bool, line["counts"])) for line in lines[:12])
        assert counted(sum(lines[0]["counts"]), "row") in texts(root)
        assert (f"{len(lines) - 12} more states are in report.json" in texts(root)) == (len(lines) > 12)


def test_bars_are_as_high_as_their_counts():
    edges = [place / 20 for place in range(21)]
    line = {**SERIES, "quantity": "score", "state": "marked", "edges": edges, "counts": [10, 5, 0, 1] + [0] * 16}
    bars = [element for element in checked(histogram_svg([line], "d")).iter() if element.get("class") == "bb-bar"]
    heights = [float(bar.get("height")) for bar in bars]
    assert heights == pytest.approx([64, 32, 6.4], abs=0.1)
    lefts = [float(bar.get("x")) - 0.5 for bar in bars]
    assert lefts == pytest.approx([44 + 366 * share for share in (0, 0.05, 0.15)], abs=0.1)


@st.composite
def reliability_line(draw):
    bins = []
    for place in range(10):
        n = draw(st.sampled_from([0, 1, 7]) | COUNTS)
        mean = draw(st.floats(place / 10, (place + 1) / 10)) if n else None
        bins.append(
            {
                "low": place / 10,
                "high": (place + 1) / 10,
                "n": n,
                "mean_score": mean,
                "detected_expected": draw(st.integers(0, n)),
            }
        )
    return {**SERIES, "bins": bins}


@given(reliability_line(), NAMES)
def test_reliabilities(line, name):
    svg = reliability_svg(line, name)
    bins = [each for each in line["bins"] if each["n"]]
    assert bool(svg) == bool(bins)
    if svg:
        root = checked(svg)
        for each, mark in zip(bins, marks(root), strict=True):
            assert float(mark.get("cx")) == pytest.approx(44 + 366 * each["mean_score"], abs=0.1)
            assert float(mark.get("cy")) == pytest.approx(254 - 200 * each["detected_expected"] / each["n"], abs=0.1)


@st.composite
def robustness_line(draw):
    points = [{"attack": None, "strength": None}] if draw(st.booleans()) else []
    points += [{"attack": f"jpeg-{value}", "strength": value} for value in draw(st.lists(FINITE, max_size=45))]
    for point in points:
        least, median, greatest = sorted(draw(st.tuples(SHARES, SHARES, SHARES)))
        bits = {"n": draw(COUNTS), "min": least, "median": median, "max": greatest}
        bits = bits if bits["n"] else {"n": 0, "min": None, "median": None, "max": None}
        point |= {
            "rows": 1,
            "detected_rate_of_artifacts": draw(st.just(rate(0, 0)) | RATES),
            "message_bit_accuracy": draw(st.none() | st.just(bits)),
        }
    order = draw(st.sampled_from(["weak_to_strong", "by_number"]))
    fields = {"media_type": "image", "family": draw(NAMES), "strength_order": order, "carriers": draw(COUNTS)}
    return {**SERIES, **fields, "points": points}


@given(robustness_line(), NAMES)
def test_robustness(line, name):
    svg = robustness_svg(line, name)
    rates = [point["detected_rate_of_artifacts"] for point in line["points"]]
    bits = [(point["message_bit_accuracy"] or {}).get("n") for point in line["points"]]
    measured = [place for place, _ in enumerate(rates) if rates[place]["n"] or bits[place]]
    assert bool(svg) == bool(measured)
    if svg:
        root = checked(svg)
        drawn = measured[:40]
        in_legend = 1 + any(bits[place] for place in drawn)
        assert len(marks(root)) - in_legend == sum(bool(rates[p]["n"]) + bool(bits[p]) for p in drawn)
        said = " ".join(texts(root))
        assert (f"; {len(measured) - 40} more in report.json" in "".join(root.itertext())) == (len(measured) > 40)
        assert ("95 % interval" in said) is True


def test_a_curve_lies_where_its_rates_are_and_breaks_where_there_is_none():
    points = [
        {
            "attack": f"a-{place}",
            "strength": place,
            "rows": n,
            "detected_rate_of_artifacts": rate(k, n),
            "message_bit_accuracy": {"n": 1, "min": 0.5, "median": 0.5, "max": 0.5} if not n else None,
        }
        for place, (k, n) in enumerate([(4, 4), (2, 4), (0, 0), (0, 4)])
    ]
    line = {**SERIES, "media_type": "image", "family": "a", "strength_order": "by_number", "carriers": 4, "points": points}
    root = checked(robustness_svg(line, "d"))
    circles = [mark for mark in marks(root) if "cx" in mark.attrib][:3]
    assert [float(circle.get("cy")) for circle in circles] == pytest.approx([30, 125, 220], abs=0.1)
    assert [float(circle.get("cx")) for circle in circles] == pytest.approx(
        [44 + 91.5 * at for at in (0.5, 1.5, 3.5)], abs=0.1
    )
    (curve,) = [element for element in root.iter() if element.get("class") == "bb-curve bb-first"]
    assert len(curve.get("points").split()) == 2
    (band,) = [element for element in root.iter() if element.get("class") == "bb-band"]
    low, high = wilson_interval(2, 4)
    ys = [float(point.split(",")[1]) for point in band.get("points").split()]
    assert ys[1:3] == pytest.approx([220 - 190 * high, 220 - 190 * low], abs=0.1)
    assert "strength of a, by number, not to scale" in texts(root)


TIMES = st.floats(0, allow_infinity=False)


@st.composite
def latency_line(draw):
    def summary():
        times = sorted(draw(st.tuples(*[TIMES] * 4)))
        names = ("p50_ms", "p90_ms", "p95_ms")
        ends = {name: sorted(draw(st.tuples(TIMES, TIMES))) for name in names}
        intervals = {
            name: draw(
                st.none() | st.just({"low_rank": 1, "high_rank": 2, "low_ms": low, "high_ms": high, "coverage": 0.95})
            )
            for name, (low, high) in ends.items()
        }
        return {
            "n": draw(st.integers(1, 2**53)),
            **dict(zip((*names, "max_ms"), times, strict=True)),
            "intervals": intervals,
        }

    return {call: summary() if draw(st.booleans()) else None for call in ("cold", "warm")}


@given(latency_line(), NAMES)
def test_latencies(line, name):
    svg = latency_svg(line, name)
    calls = [summary for summary in line.values() if summary]
    assert bool(svg) == bool(calls)
    if svg:
        root = checked(svg)
        assert len(marks(root)) == 4 * len(calls) + 4
        assert {counted(summary["n"], "call") for summary in calls} <= set(texts(root))


def test_shapes_tell_percentiles_apart_and_stand_in_their_order():
    line = {
        "cold": None,
        "warm": {"n": 100, "p50_ms": 1.0, "p90_ms": 10.0, "p95_ms": 100.0, "max_ms": 1000.0, "intervals": {}},
    }
    shown = marks(checked(latency_svg(line, "d")))[:4]
    assert [mark.tag.rpartition("}")[2] for mark in shown] == ["circle", "polygon", "polygon", "polygon"]
    assert len({len(mark.get("points", "").split()) or mark.tag for mark in shown[:1] + shown[3:]}) == 2
    lefts = [float(shown[0].get("cx"))]
    for mark in shown[1:]:
        xs = [float(point.split(",")[0]) for point in mark.get("points").split()]
        lefts.append((min(xs) + max(xs)) / 2)
    assert lefts == pytest.approx([44, 166, 288, 410], abs=0.2)


# the plots of a whole report


def test_a_report_has_the_plots_of_its_rows(report, row):
    def attacked(place, status):
        attack = {"family": "jpeg", "strength": 90 - 20 * (place % 3), "seed": None}
        return row(
            f"a{place}",
            status=status,
            state="attacked",
            transform=f"jpeg-{attack['strength']}",
            parameters={"attack": attack},
            message_bit_accuracy=0.5 + place / 40,
            score=place / 20,
            expected="detected",
        )

    rows = [row(f"m{place}", message_bit_accuracy=1.0, expected="detected", score=0.9) for place in range(9)]
    rows += [attacked(place, "detected" if place % 2 else "not_detected") for place in range(9)]
    for place, each in enumerate(rows):
        each["case"]["pair_id"] = f"pair-{place % 9}"
    found = report_plots(report(rows))
    assert list(found) == ["confusion", "transitions", "robustness", "histograms", "reliability", "timing"]
    captions = {name: [plot.caption for plot in plots.shown] for name, plots in found.items()}
    assert captions == {
        "confusion": ["dwt-dct"],
        "transitions": ["dwt-dct, marked to attacked"],
        "robustness": ["dwt-dct, jpeg (image)"],
        "histograms": ["dwt-dct, message bit accuracy", "dwt-dct, score"],
        "reliability": ["dwt-dct"],
        "timing": ["dwt-dct"],
    }
    for plots in found.values():
        for plot in plots.shown:
            checked(plot.svg)
            assert 500 < len(plot.svg) < 12_000
    again = report_plots(report(rows[::-1]))
    assert {name: plots for name, plots in again.items() if name != "timing"} == {
        name: plots for name, plots in found.items() if name != "timing"
    }


def test_a_report_without_rows_has_no_plot(report):
    assert report_plots(report([])) == {}
    assert report_plots({"results": {}}) == {}


def test_series_are_told_apart_by_what_differs(report, row):
    rows = [
        row("a", suite="s.py::one", expected="detected", params="p<1>"),
        row("b", suite="s.py::two", expected="detected", adapter="other"),
    ]
    captions = [plot.caption for plot in report_plots(report(rows))["confusion"].shown]
    assert captions == ["s.py::one::dwt-dct[p<1>]", "s.py::two::other"]


def test_plots_beyond_the_limit_are_counted(report, row, monkeypatch):
    monkeypatch.setattr(module, "LIMIT", 2)
    rows = [row("c", adapter=f"adapter-{place}", expected="detected") for place in range(5)]
    plots = report_plots(report(rows))["confusion"]
    assert ([plot.caption for plot in plots.shown], plots.left_out) == (["adapter-0", "adapter-1"], 3)


def test_the_style_sheet_has_the_colours_of_the_page_alone():
    rules = re.sub(r"/\*.*?\*/", "", plots_css(), flags=re.S)
    for colour in re.findall(r"(?:fill|stroke): ([^;]+);", rules):
        assert colour == "none" or re.fullmatch(r"var\(--[a-z0-9]+, [^)]+\)", colour)


def test_calls_that_rows_shared_have_a_plot_of_whole_batches(report, row):
    rows = [row(f"c{i}", elapsed=None, status="scored") | {"batch": {"size": 3, "elapsed_ms": 7.5}} for i in range(3)]
    found = report_plots(report(rows))
    (plot,) = found["batch_timing"].shown
    assert (plot.caption, "timing" in found) == ("dwt-dct, whole batches", False)
    assert "Warm, 1 calls: p50 7.5 ms" in str(plot.svg)
