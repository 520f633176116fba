import re

import pytest
from hypothesis import given, settings, strategies as st

from pytest_benchbench.cohorts.golden_set_example.template_texts import template_text

CATEGORIES = ["novel", "law", "definition"]


@given(category=st.sampled_from(CATEGORIES), seed=st.integers(-5, 10**9))
@settings(deadline=None)
def test_every_text_is_whole_and_the_same_again(category, seed):
    text = template_text(category, seed)
    assert text == template_text(category, seed)
    assert not re.search(r"[{}]|  |\b[Aa] [aeio]", text)
    assert text.endswith(".")
    assert all(sentence[0].isupper() for sentence in text.split(". "))
    assert 70 <= len(text.split()) <= 200


@pytest.mark.parametrize("category", CATEGORIES)
def test_other_seeds_give_other_texts(category):
    assert len({template_text(category, seed) for seed in range(200)}) == 200
