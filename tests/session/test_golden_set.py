"""Golden sets as pytest runs them: frozen or refused, one split, every adapter crossed, and no text in what is kept."""

import hashlib
import json

import pytest

SUITE = """
    import pytest

    @pytest.mark.cases(kind="golden-set", where={"label": "ai"})
    def test_texts(observe, case, artifact):
        assert artifact.text == case.text
        observe().check()
"""


def test_texts_are_scored_and_measured(golden, workers):
    golden.samples(0, 49.5, 100)
    assert golden.score(workers=workers).ret == 0
    rows = sorted(golden.evidence, key=lambda row: row["key"]["case_id"])
    assert [row["detection"]["score"] for row in rows] == [0.0, 49.5, 100.0]
    assert {row["outcome"] for row in rows} == {"measured"}


def test_evidence_has_the_place_and_the_digest_of_a_text_and_what_is_public(golden):
    golden.samples(50, pairOf=None)
    golden.score()
    (row,) = golden.evidence
    data = (golden.path / "golden.json").read_bytes()
    assert row["manifest"] == {"name": "golden.json", "sha256": hashlib.sha256(data).hexdigest(), "pointer": "/samples/1"}
    text = golden.rows[1]["text"].encode()
    assert row["artifact"] == {
        "sha256": hashlib.sha256(text).hexdigest(),
        "decoding": {"rule": "utf-8", "characters": len(text)},
    }
    public = ("id", "split", "category", "label", "labelSource", "borderline")
    assert row["case"] == {name: golden.rows[1][name] for name in public}


def kept_and_shown(golden, result):
    """Everything that a run leaves and shows, as one text; the set itself is not among it."""
    own = {"golden.json", "conftest.py"}
    files = [path for path in golden.path.rglob("*") if path.is_file() and path.name not in own]
    written = [path.read_bytes().decode("utf-8", "replace") for path in files]
    assert any("evidence" in path.name for path in files)
    return "\n".join([*written, str(result.stdout), str(result.stderr)])


@pytest.mark.parametrize(
    ("adapters", "code"), [(["chatty"], 0), (["crashing", "batches"], 1)], ids=["answers", "exceptions"]
)
def test_no_text_is_kept_or_shown_whatever_an_adapter_does_with_it(golden, workers, adapters, code):
    golden.samples(1, 2, 3, 4)
    given = [f"--bench-adapter={adapter}" for adapter in adapters]
    result = golden.score(*given, "--showlocals", "-rA", "--junitxml=junit.xml", workers=workers)
    assert result.ret == code
    told = kept_and_shown(golden, result)
    assert "[text withheld]" in told
    for private in ("CANARY", "sings of the harbour", "nobody hears", "PRIVATE"):
        assert private not in told


def test_no_text_is_kept_or_shown_when_workers_die(golden):
    golden.samples(1)
    result = golden.score("--bench-adapter=dying", "--bench-crash-retries=0", workers=2)
    assert golden.outcomes == {"text-1": "error"}
    told = kept_and_shown(golden, result)
    assert "CANARY" not in told
    assert "PRIVATE" not in told


def test_no_text_is_kept_or_shown_when_a_suite_fails_over_it(golden):
    golden.samples(1)
    golden.pytester.makepyfile(
        test_suite="""
        import pytest

        @pytest.mark.cases(kind="golden-set")
        def test_texts(case):
            text = case.text
            assert text == "something else"
        """
    )
    result = golden.score("test_suite.py", "--manifest=golden.json", "--showlocals", manifest=None)
    assert result.ret == 1
    (golden.path / "test_suite.py").unlink()
    assert "CANARY" not in kept_and_shown(golden, result)


def test_a_suite_of_ones_own_takes_the_samples(golden):
    golden.samples(1, 2)
    golden.pytester.makepyfile(test_suite=SUITE)
    assert golden.score("test_suite.py", "--manifest=golden.json", manifest=None).ret == 0
    assert golden.outcomes == {"text-1": "measured", "text-2": "measured"}


def test_the_option_alone_runs_the_built_in_suite(golden):
    golden.samples(1)
    assert golden.score("--manifest=golden.json", manifest=None).ret == 0
    assert golden.evidence[0]["key"]["suite"] == "golden.json::test_detection"


@pytest.mark.parametrize("score", ["100.5", "-1"])
def test_a_score_outside_the_scale_is_an_error(golden, score):
    golden.samples(score)
    result = golden.score()
    assert result.ret == 1
    result.stdout.fnmatch_lines([f"golden.json:*: text-1: error: ValueError: score lies outside ?0, 100?: {float(score)}"])


def test_a_verdict_without_a_score_is_an_error(golden):
    golden.samples(1)
    result = golden.score("--bench-adapter=undecided")
    result.stdout.fnmatch_lines(["golden.json:*: text-1: error: ValueError: the answer is detected, and has no score"])


@pytest.mark.parametrize("digest", [None, "0" * 64])
def test_a_set_that_is_not_the_frozen_one_is_not_run(golden, digest):
    golden.samples(1)
    path = golden.path / "golden.sha256"
    path.unlink() if digest is None else path.write_text(digest)
    result = golden.score()
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: golden.json: *frozen*benchbench freeze golden.json*"])
    assert not (golden.path / "run").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--bench-split=test"], "*--bench-split=test: golden.json can have the splits tune, holdout"),
        (
            ["--bench-adapter=dwt-dct"],
            "*--bench-adapter=dwt-dct: dwt-dct is asked about image, and rows of golden.json are texts",
        ),
        (["--bench-select=text=CANARY"], "*--bench-select: no rows are chosen by text*"),
    ],
)
def test_what_cannot_be_run_is_refused(golden, arguments, said):
    golden.samples(1)
    result = golden.score(*arguments)
    assert result.ret == 4
    result.stderr.fnmatch_lines([said])


def test_a_split_has_to_be_named_and_a_missing_set_is_named(golden):
    golden.samples(1)
    unsplit = golden.call("golden.json", "--bench-adapter=reader")
    assert unsplit.ret == 4
    unsplit.stderr.fnmatch_lines(["*give --bench-split=NAME, one of tune, holdout"])
    missing = golden.call("other.json", "--bench-adapter=reader")
    missing.stderr.fnmatch_lines(["*other.json: no such manifest"])


def test_shards_share_the_samples_out(golden):
    golden.samples(*range(6))
    found = []
    for shard in ("1/2", "2/2"):
        assert golden.score(f"--bench-shard={shard}", run=f"shard-{shard[0]}").ret == 0
        lines = (golden.path / f"shard-{shard[0]}" / "evidence.jsonl").read_text().splitlines()
        found += [json.loads(line)["key"]["case_id"] for line in lines]
    assert sorted(found) == [f"text-{number}" for number in range(1, 7)]


def test_a_run_is_gone_on_with_and_a_changed_set_is_not(golden):
    golden.samples(1, 2)
    assert golden.score("-k", "text-1").ret == 0
    assert golden.score("--bench-resume=run").ret == 0
    assert golden.tried == [("text-1", 1), ("text-2", 1)]
    golden.sample("text-3", 3)
    golden.freeze()
    assert golden.score("--bench-resume=run").ret == 4


def test_other_files_of_json_are_left_to_pytest(golden):
    (golden.path / "data.json").write_text('{"a": 1}')
    golden.samples(1)
    assert golden.score("data.json").ret == 4
    assert not (golden.path / "run").exists()
