"""What a cohort was made by: digests of the recipe's sources, and versions of what shapes the bytes."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec
from PIL import features

from pytest_benchbench.cohorts import CohortError

_PACKAGE = "pytest_benchbench"
_PACKAGE_FOLDER = Path(__file__).resolve().parents[1]


_EXTRAS = {"av": "audio,video", "soundfile": "audio", "soxr": "audio", "onnxruntime": "rivagan", "espeakng-loader": "speech"}
"""Which extra brings a distribution."""


def recipe_sources(*modules: str) -> dict[str, str]:
    """Find modules and every module of this package that they import, directly or not.

    Args:
        modules: Dotted names inside this package.

    Returns:
        SHA-256 by path inside the package, sorted by path.
    """
    digests: dict[str, str] = {}
    waiting = list(modules)
    while waiting:
        path = _file_of(waiting.pop())
        if path is None:
            continue
        name = path.relative_to(_PACKAGE_FOLDER).as_posix()
        if name in digests:
            continue
        source = path.read_bytes()
        digests[name] = hashlib.sha256(source).hexdigest()
        waiting += _imported(ast.parse(source))
    return dict(sorted(digests.items()))


def dependency_versions(distributions: Iterable[str]) -> dict[str, str]:
    """Give the versions of installed distributions and of the codecs that Pillow carries, sorted by name.

    Raises:
        CohortError: A distribution is not installed.
    """
    versions = {}
    for name in distributions:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            extras = _EXTRAS.get(name, "cohorts")
            raise CohortError(f"{name} is not installed: pip install 'pytest-benchbench[{extras}]'") from None
    codecs = {
        "libjpeg-turbo": features.version("libjpeg_turbo") or features.version("jpg"),
        "libavif": features.version("avif"),
        "libwebp": features.version("webp"),
        "zlib": features.version("zlib"),
        "zlib-ng": features.version("zlib_ng"),
    }
    versions |= {name: version for name, version in codecs.items() if version}
    return dict(sorted(versions.items(), key=lambda item: item[0].casefold()))


def digest_of(value: Any) -> str:
    """SHA-256 of a JSON value, independent of the order of keys."""
    return hashlib.sha256(msgspec.json.encode(value, order="deterministic")).hexdigest()


def _imported(tree: ast.Module) -> Iterator[str]:
    """Every name that may be a module of this package, wherever in the source it is imported."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _file_of(module: str) -> Path | None:
    package, _, inside = module.partition(".")
    if package != _PACKAGE or not inside:
        return None
    path = _PACKAGE_FOLDER.joinpath(*inside.split("."))
    candidates = (path.with_name(f"{path.name}.py"), path / "__init__.py")
    return next((candidate for candidate in candidates if candidate.is_file()), None)
