import hashlib
from importlib import metadata
from pathlib import Path

import pytest

import pytest_benchbench
from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.provenance import dependency_versions, digest_of, recipe_sources


def test_a_recipes_sources_are_its_module_and_what_it_imports():
    sources = recipe_sources("pytest_benchbench.cohorts.synthetic_image")
    assert {
        "cohorts/synthetic_image.py",
        "cohorts/recipe.py",
        "cohorts/attacks/registry.py",
        "cohorts/carriers/synthetic.py",
        "cohorts/pictures.py",
        "adapters/haar_frame.py",
        "adapters/patterns.py",
        "artifacts/image.py",
    } <= set(sources)
    assert not {"cohorts/real_image.py", "cohorts/carriers/photographs.py", "plugin.py"} & set(sources)
    assert not any(path.startswith(("cli/", "session/", "evidence/")) for path in sources)


def test_the_sources_of_several_modules_are_joined():
    one, other = "pytest_benchbench.cohorts.synthetic_image", "pytest_benchbench.cohorts.real_image"
    assert recipe_sources(one, other) == dict(sorted({**recipe_sources(one), **recipe_sources(other)}.items()))


def test_sources_are_digests_of_files():
    folder = Path(pytest_benchbench.__file__).parent
    for path, digest in recipe_sources("pytest_benchbench.cohorts.real_image").items():
        assert digest == hashlib.sha256((folder / path).read_bytes()).hexdigest()


def test_versions_name_the_codecs_that_shape_the_bytes():
    versions = dependency_versions(["numpy"])
    assert versions["numpy"] == metadata.version("numpy")
    assert {"libjpeg-turbo", "zlib"} <= set(versions)


def test_a_missing_distribution_is_named():
    with pytest.raises(CohortError, match=r"no-such-distribution is not installed: pip install"):
        dependency_versions(["no-such-distribution"])


def test_a_digest_does_not_depend_on_the_order_of_keys():
    assert digest_of({"a": 1, "b": [{"c": None, "d": 2}]}) == digest_of({"b": [{"d": 2, "c": None}], "a": 1})
    assert digest_of({"a": 1}) != digest_of({"a": 2})
