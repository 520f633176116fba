import hashlib
from collections import Counter
from pathlib import Path

import pytest

from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.golden_set_example.recipe import FILE, build_golden_set_example, example_bytes, example_set
from pytest_benchbench.manifests.golden_set_hash import check_frozen
from pytest_benchbench.manifests.golden_set_reading import locate_golden_set, parse_golden_set
from pytest_benchbench.validation.golden_set import GoldenSettings, examine_golden_set

SHIPPED = Path(__file__).parents[3] / "benchmarks" / FILE


@pytest.fixture(scope="module")
def samples():
    return example_set().samples


def test_the_recipe_gives_the_bytes_that_the_repository_ships():
    assert example_bytes() == SHIPPED.read_bytes()
    check_frozen(SHIPPED, hashlib.sha256(example_bytes()).hexdigest(), display=FILE)


def test_nothing_at_all_is_found_in_it():
    examination = examine_golden_set(parse_golden_set(example_bytes(), FILE), FILE, GoldenSettings())
    assert examination.findings() == []
    assert examination.status == "example"


def test_a_folder_with_the_set_and_its_digest_is_built(tmp_path):
    built = build_golden_set_example(tmp_path / "new" / "folder")
    assert sorted(path.name for path in built.golden_set.parent.iterdir()) == [FILE, "golden-set-example-v1.sha256"]
    located = locate_golden_set(built.golden_set)
    check_frozen(built.golden_set, located.sha256, display=FILE)
    assert built.samples == len(located.golden_set.samples) == 90


def test_an_existing_folder_is_refused(tmp_path):
    with pytest.raises(CohortError, match="exists already; name a new folder"):
        build_golden_set_example(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_every_split_and_category_has_the_same_numbers(samples):
    counts = Counter((sample.split, sample.category, sample.label, sample.pairOf is not None) for sample in samples)
    assert len(counts) == 18
    assert {(label, humanized): number for (_, _, label, humanized), number in counts.items()} == {
        ("human", False): 6,
        ("ai", False): 6,
        ("ai", True): 3,
    }
    assert len(set(counts.values())) == 2


def test_texts_have_80_to_200_words(samples):
    assert {sample.id: count for sample in samples if not 80 <= (count := len(sample.text.split())) <= 200} == {}


def test_every_generated_text_says_that_it_comes_from_templates(samples):
    models = {sample.provenance.model for sample in samples if sample.label == "ai"}
    assert models == {
        "benchbench template generator 1",
        "benchbench template generator 1, then benchbench plain rewriter 1",
    }


def test_every_human_text_is_older_than_a_hundred_years_and_names_its_edition(samples):
    human = [sample.provenance for sample in samples if sample.label == "human"]
    assert max(int(provenance.date[:4]) for provenance in human) == 1911
    assert all(provenance.author and "as in" in provenance.source for provenance in human)


def test_the_splits_share_no_work_of_a_novelist_or_law(samples):
    works = {
        split: {
            sample.provenance.source.partition(",")[0].partition(" (")[0]
            for sample in samples
            if (sample.split, sample.label) == (split, "human") and sample.category != "definition"
        }
        for split in ("tune", "holdout")
    }
    assert not works["tune"] & works["holdout"]
    assert all(works.values())
