import json
import random
import re
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from pytest_benchbench.manifests.golden_set import GoldenSample, HumanProvenance
from pytest_benchbench.validation.contamination import FEWEST_SHINGLES, FileScanner, Holdout, Overlap, units_of
from pytest_benchbench.validation.escapes import without_escapes
from pytest_benchbench.validation.shingles import words

SYLLABLES = ["ka", "lo", "mi", "ne", "ru", "so", "ti", "vu", "wa", "xe", "ban", "del", "fir", "gom", "hul", "jap", "kit"]
WORDS = [one + other for one in SYLLABLES for other in SYLLABLES]


def sample(name, text, split="holdout") -> GoldenSample:
    provenance = HumanProvenance(source="s", date="1851", license="CC0-1.0", termsChecked="2026-01-01")
    return GoldenSample(
        id=name, split=split, category="x", label="human", text=text, provenance=provenance, labelOwner="A",
        labelSource="provenance", borderline=False, reviewers=["B"],
    )  # fmt: skip


def prose(seed, count=60):
    return " ".join(random.Random(seed).choices(WORDS, k=count)).capitalize() + "."


LONG = sample("ho-long", prose(1))
SHORT = sample("ho-short", 'Yes, \u00c9va said: "no"!')
SAMPLES = [LONG, SHORT, sample("ho-tune", prose(2), split="tune"), sample("seven", prose(3)), sample("12", prose(4))]


def found(text, samples=SAMPLES, cuts=(), **options):
    """Look for samples in a text that comes in pieces which end at some of its line ends."""
    scanner, line = FileScanner(Holdout(samples, **options)), 1
    lines = text.splitlines(keepends=True)
    edges = [0, *sorted({cut % (len(lines) + 1) for cut in cuts}), len(lines)]
    for begin, end in pairwise(edges):
        piece = "".join(lines[begin:end])
        scanner.feed(piece, line)
        line += piece.count("\n")
    return scanner.finish()


def named(text, **more):
    return {(each.sample, each.kind) for each in found(text, **more)}


@pytest.mark.parametrize(
    "line",
    [
        "ho-long",
        "- ho-long",
        '{"id": "ho-long"}',
        "path/ho-long.txt",
        "not ho-long.",
        "a,ho-long,b",
        r'{"id": "\u0068o-long"}',
    ],
)
def test_an_id_is_found_as_a_whole_token(line):
    assert found(f"first\n{line}\n") == [Overlap(2, "ho-long", "id")]


@pytest.mark.parametrize(
    "line", ["ho-longer", "who-long", "ho-long-2", "x-ho-long", "ho_long", "ho long", "HO-LONG", "ho-tune"]
)
def test_another_token_is_no_id(line):
    assert found(line) == []


@pytest.mark.parametrize(
    "line", ["seven", "- seven", '{"id": "seven"}', "a, seven ,b", "id: seven", "id: 'seven'", "x\tseven"]
)
def test_a_plain_id_is_found_where_it_stands_alone(line):
    assert found(f"{line}\n") == [Overlap(1, "seven", "id")]


def test_a_plain_id_is_no_id_in_prose():
    assert Holdout(SAMPLES).alone == {"seven", "12"}
    assert found("the seven dwarfs, and 12 of them\n") == []
    assert named("the seven dwarfs\nseven\n") == {("seven", "id")}


@pytest.mark.parametrize(
    "spelt",
    [
        str.upper,
        lambda text: text.replace(" ", "\n  "),
        lambda text: json.dumps({"a": "b", "text": text.replace(" ", "\n\u00a0", 3)}),
        lambda text: json.dumps(json.dumps([text.replace(" ", "\n\u00a0", 3)])),
        lambda text: f"before it {text} after it",
        lambda text: text.replace(" ", " -- ", 9),
        lambda text: text[:9] + "\u200b" + text[9:],
    ],
)
def test_a_text_is_found_however_it_is_typeset(spelt):
    assert named(spelt(LONG.text)) == {("ho-long", "text")}


@pytest.mark.parametrize(
    "spelt",
    [
        lambda text: text,
        lambda text: f"  - {text.lower()}",
        lambda text: json.dumps({"text": text, "more": 1}),
        lambda text: json.dumps({"text": text, "more": 1}, ensure_ascii=False),
        lambda text: f"1\t{text}\t2",
        lambda text: f"some line\n\n{text}\n\nanother",
        lambda text: text.replace(" ", "\n"),
    ],
)
def test_a_short_text_is_found_where_it_stands_alone(spelt):
    assert named(spelt(SHORT.text)) == {("ho-short", "text")}


def test_a_short_text_inside_a_sentence_is_nothing():
    assert found("and yes \u00c9va said no because of it\n") == []
    assert found("yes eva said no\n") == []
    assert found(f"more\n{SHORT.text.replace(' ', chr(10))}\n") == []


def test_a_part_of_a_text_counts_from_the_threshold_on():
    words = LONG.text.split()
    shingles = len(words) - 4
    half = shingles // 2
    (overlap,) = found(" ".join(words[: half + 4]))
    assert (overlap.kind, overlap.share) == ("shingles", half / shingles)
    assert found(" ".join(words[: half + 3])) == []
    assert found(" ".join(words[: half + 4]), threshold=0.51) == []


def test_the_parts_may_lie_apart_and_the_line_with_most_is_told():
    words = LONG.text.split()
    text = f"x\n{' '.join(words[:15])}\n{prose(9)}\n{' '.join(words[20:55])}\n"
    assert [(o.line, o.kind) for o in found(text)] == [(4, "shingles")]


def test_a_sample_with_few_shingles_is_looked_for_as_a_whole_alone():
    few = sample("few", prose(5, 8))
    holdout = Holdout([few, sample("none", "!!!"), SHORT, LONG])
    assert FEWEST_SHINGLES > 4
    assert (holdout.without_shingles, holdout.without_text) == (("few", "ho-short"), ("none",))
    assert named(f"in {few.text} it", samples=[few]) == {("few", "text")}
    assert named(" ".join(few.text.split()[:7]), samples=[few]) == set()


def test_the_tune_split_and_nothing_at_all_are_no_overlap():
    assert found(SAMPLES[2].text) == []
    assert found("") == []
    assert found(prose(7), samples=[SAMPLES[2]]) == []


@given(st.integers(0, 2**31), st.lists(st.integers(0, 60), max_size=6), st.integers(0, 3))
def test_what_is_planted_is_found_wherever_it_stands_and_however_the_file_is_cut(seed, cuts, level):
    rng = random.Random(seed)
    text = LONG.text.replace(" ", "\n" if level else " \u00e9 "[:1], 5)
    for _ in range(level):
        text = json.dumps([text])
    planted = ["ho-long", SHORT.text, text, json.dumps(SHORT.text)][: rng.randint(1, 4)]
    lines = [prose(rng.random(), rng.randint(0, 30)) for _ in range(rng.randint(0, 40))]
    for part in planted:
        wrapped = part.replace(" ", "\n", rng.randint(0, 9)) if part is text and not level else part
        lines.insert(rng.randint(0, len(lines)), wrapped)
    whole = "\n".join(lines) + "\n" * rng.randint(0, 1)
    expected = found(whole)
    assert {("ho-long", "id")} <= {(each.sample, each.kind) for each in expected}
    if len(planted) > 1:
        assert ("ho-short", "text") in {(each.sample, each.kind) for each in expected}
    if len(planted) > 2 and level < 3:
        assert ("ho-long", "text") in {(each.sample, each.kind) for each in expected}
    assert found(whole, cuts=cuts) == expected


def plainly(text, samples, threshold):
    """Find what ``FileScanner`` finds by its definition alone, word by word; without lines."""
    chosen = [each for each in samples if each.split == "holdout"]
    levels = [text, without_escapes(text), without_escapes(without_escapes(text))]
    outcome, shares = set(), {each.id: set() for each in chosen}
    for level, at_level in enumerate(levels):
        there = words(at_level)
        units = [
            unit for shown in {at_level, levels[max(0, level - 1)]} for line in shown.split("\n") for unit in units_of(line)
        ]
        lines = [words(line) for line in at_level.split("\n")]
        runs = {tuple(there[at : at + 5]) for at in range(len(there) - 4)}
        for each in chosen:
            wanted = words(each.text)
            plain = len(each.id) < 4 or each.id.isalpha() or not any(map(str.isalpha, each.id))
            tokens = re.finditer(rf"(?<![\w-]){re.escape(each.id)}(?![\w-])", at_level)
            around = [at_level[at_level.rfind("\n", 0, t.start()) + 1 :].split("\n")[0] for t in tokens]
            if any(not plain or each.id in units_of(line) for line in around):
                outcome.add((each.id, "id", None))
            if len(wanted) >= 8 and any(there[at : at + len(wanted)] == wanted for at in range(len(there))):
                outcome.add((each.id, "text", 1.0))
            stands_alone = any(words(unit) == wanted for unit in units) and any(has(line, wanted) for line in lines)
            if 0 < len(wanted) < 8 and (there == wanted or stands_alone):
                outcome.add((each.id, "text", 1.0))
            own = {tuple(wanted[at : at + 5]) for at in range(len(wanted) - 4)}
            shares[each.id] |= own & runs
    for each in chosen:
        wanted = words(each.text)
        own = {tuple(wanted[at : at + 5]) for at in range(len(wanted) - 4)}
        share = len(shares[each.id]) / max(1, len(own))
        if len(own) >= FEWEST_SHINGLES and share >= threshold and (each.id, "text", 1.0) not in outcome:
            outcome.add((each.id, "shingles", share))
    return outcome


def has(line, wanted):
    return any(line[at : at + len(wanted)] == wanted for at in range(len(line)))


PARTS = ["ka", "lo", "mi", "Kalomineruso", "abcdefghijklmnopqr", "\u00e9t\u00e9", "e\u0301", "\u4e2d\u6587", "ho-1", "ho-12",
         "7", "seven", "don't", "\\n", "\\u0041", "\\\\", '"', ",", ": ", "|"]  # fmt: skip


@given(st.integers(0, 2**31), st.lists(st.integers(0, 60), max_size=4))
def test_what_is_found_is_what_the_plain_definition_finds(seed, cuts):
    rng = random.Random(seed)

    def made(count):
        return "".join(rng.choice(PARTS) + rng.choice([" ", " ", " ", "\n", ""]) for _ in range(count)).strip() or "ka"

    samples = [
        sample(name, made(rng.choice([1, 4, 12, 20, 40]))) for name in ("ho-1", "ho-12", "seven", "7", "\u00e9-x", "a b")
    ]
    pieces = []
    for _ in range(rng.randint(0, 8)):
        one = rng.choice(samples)
        few = one.text.split(" ")
        pieces.append(rng.choice([one.text, one.id, json.dumps(one.text), json.dumps([json.dumps([one.text])]), made(30),
                                  one.text.upper(), " ".join(few[: len(few) * 2 // 3]), f"x,{one.text}"]))  # fmt: skip
        pieces.append(rng.choice(["\n", "\n", " ", ", "]))
    text = "".join(pieces)
    expected = plainly(text, samples, 0.4)
    assert {(each.sample, each.kind, each.share) for each in found(text, samples, threshold=0.4)} == expected
    assert found(text, samples, cuts=cuts, threshold=0.4) == found(text, samples, threshold=0.4)


@given(st.integers(0, 2**31))
def test_other_text_of_the_same_words_is_clean(seed):
    assert found("\n".join(prose(seed + number + 10) for number in range(20))) == []


@pytest.mark.parametrize("unit", ["seven ", "yes \u00c9va ", '\\"', '"', "\\", "seven:", "a,", "\n", "\\u0041"])
def test_hostile_lines_take_no_more_than_their_length(unit):
    """In quadratic time this would take hours, and be ended."""
    assert {each.sample for each in found(unit * (800_000 // len(unit)))} <= {"seven"}


def test_units_are_what_may_stand_alone():
    assert {"a b", "c | d", 'k: "a b"; c', "d", 'k: "a b"; c | d'} <= set(units_of('k: "a b"; c | d'))
    assert 'say "hi"' in units_of(r'{"t": "say \"hi\"", "u": 1}')
