import re

import pytest
from hypothesis import given, settings, strategies as st

from pytest_benchbench.cohorts.golden_set_example.rewriting import plainer
from pytest_benchbench.cohorts.golden_set_example.template_texts import template_text
from pytest_benchbench.validation.shingles import jaccard, shingles


@given(category=st.sampled_from(["novel", "law", "definition"]), seed=st.integers(0, 10**9))
@settings(deadline=None)
def test_a_variant_is_another_text_that_still_says_the_same(category, seed):
    text = template_text(category, seed)
    variant = plainer(text)
    assert variant != text
    assert 0.15 < jaccard(shingles(text), shingles(variant)) < 1
    assert not re.search(r"  |'sn't|\.\.|Moreover|Furthermore|utiliz", variant)
    assert all(sentence[0].isupper() for sentence in variant.split(". "))


@pytest.mark.parametrize(
    ("formal", "plain"),
    [
        ("Moreover, it does not utilize wood.", "And it doesn't use wood."),
        ("It was old, and it is not new.", "It was old. It isn't new."),
        ("A. B. In order to see.", "A. B. Well, in order to see."),
        ("A. B. Elara did go.", "A. B. Elara did go."),
    ],
)
def test_the_rules_are_fixed(formal, plain):
    assert plainer(formal) == plain
