"""Build the fixture extension: a scorer of images in the browser that meets ``docs/extension-contract.md``.

    python benchmarks/extension/build.py --output-dir dist

ONNX Runtime for the browser is fetched by ``npm ci`` from the versions and digests of ``package-lock.json``, once, into
``node_modules`` beside this file. The network is that of ``benchmarks/reference_model.py``; it tells drawn lattices and is
no detector. ``--variant stranger`` builds an extension that knows nothing of the contract, and ``--misbehave`` one that does
something wrong on purpose. What comes out is for tests on one's own machine: the npm package of ONNX Runtime (MIT) holds
neither its licence nor its third-party notices, so whoever passes the folder on has to add them.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import importlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from pytest_benchbench.adapters.onnx_config import Crops, OnnxConfig, Preprocessing, Resize, load_config
from pytest_benchbench.manifests.new_folders import FolderExistsError, new_folder

HERE = Path(__file__).resolve().parent

Variant = Literal["contract", "stranger"]

MISBEHAVIOURS = (
    "slow",
    "crash-offscreen",
    "disabled",
    "fail-inference",
    "leak-http",
    "leak-dns",
    "leak-websocket",
    "leak-webrtc",
    "leak-worker",
    "leak-and-crash",
    "lose-jobs",
    "memory-routing",
    "wrong-provider",
)
"""What a build can do wrong on demand; ``docs/extension-contract.md`` says what each one does."""

NPM_TIMEOUT = 600.0
"""Seconds that fetching may take."""

_LIMITS = {
    "queueBound": 64,
    "inFlight": 4,
    "attempts": 5,
    "jobMs": 60_000,
    "silenceMs": 35_000,
    "giveUpMs": 600_000,
    "retryMs": 250,
    "slowMs": 400,
}
"""Jobs at once and with the offscreen document; times in milliseconds. A silence is longer than a service worker lives."""

_RUNTIME_FILES = {
    False: ("ort.wasm.min.mjs", "ort-wasm-simd-threaded.mjs", "ort-wasm-simd-threaded.wasm"),
    True: ("ort.webgpu.min.mjs", "ort-wasm-simd-threaded.asyncify.mjs", "ort-wasm-simd-threaded.asyncify.wasm"),
}
"""Of onnxruntime-web; they need no others."""

_KEYS: dict[Variant, str] = {
    "contract": (
        "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAjifEUsCMlU9vUGUN8D0VY8wXVJgc47WY8LRqwm3jnFzM27nyK7AvqxfSUcuUxEXI"
        "Sg4X0NlBjXU8/ZxX6WvUTl7WF85mdoOql77kt7imWrLWomXxdc4bopGtC1EM5P3thQcY8CddVj760CCyKq7OxqYv2BpfAhoSeqamTiq1QnJZ"
        "k2OnQbLGk8xV0TK4nswayE57xhOmeiKAoS5gddlqfw7jrnUnrATjVQ0bqsf5FIVgVFkI2qFA1NGkUKxjVMnHVNq3u0M/xQm79JCuNiwcgYGJ"
        "jQOoZi3nxh5dbyaksqaeP4PcQBsQUeRLMMfxEz+6hyKK+HyMAtf1AKdu1cU+8wIDAQAB"
    ),
    "stranger": (
        "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA3hmXSEtMwrlRCbLBNYyjUVssEn3bpzlJdzkoNhQL52TgW79HIjT4lx8Tl6S3Fvvn"
        "4CTFNVJ0N5cVJSzBsPRPv2svxKaxY8M91DKM78oBlNjw4RpGHcyc/rAtVsFfe2CwX0iB3glWkUpSlBpIBLunU/4esCHPK0IINgWUlRObvfLi"
        "Z1mpU7H0VSQLNWuict+tTQL8QsUBawaR7q7GDN1YEZQ6nb3n3IFq05A/CI9yjt5tYtIyHRCycugcnD+CByd58hjfudBE8gSfMgSkxynIMqz0"
        "8N4V3+Ui3duuwxfX4n8/C9L9A5Gm8ud/kmnJgvQl+WGdXAsRwp6Rq1/L8ttX3QIDAQAB"
    ),
}
"""Public keys whose private halves were thrown away: with one, an extension has the same id wherever it lies."""


class ExtensionBuildError(Exception):
    """The extension cannot be built; one line."""


def build_extension(
    output_dir: Path,
    *,
    variant: Variant = "contract",
    misbehave: Collection[str] = (),
    webgpu: bool = False,
    lease_seconds: float = 75.0,
) -> Path:
    """Build the extension into a new folder, which appears whole or not at all.

    Args:
        output_dir: Must not exist. It is what a browser loads as an unpacked extension.
        variant: ``contract`` shows its results by the contract, and its network is inside. ``stranger`` knows no contract,
            and its network, ``setup-model.onnx`` in the folder, has to be given to its setup page.
        misbehave: Of ``MISBEHAVIOURS``.
        webgpu: Whether the network runs on the graphics adapter where there is one, else on WebAssembly alone.
        lease_seconds: How long the offscreen document may keep a job before another attempt is made.

    Returns:
        ``output_dir``.

    Raises:
        ExtensionBuildError: An unknown misbehaviour, no npm, no package ``onnx``, or npm fails.
        FolderExistsError: There is something at ``output_dir``.
        OSError: A file cannot be written.
    """
    unknown = sorted(set(misbehave) - set(MISBEHAVIOURS))
    if unknown:
        raise ExtensionBuildError(f"unknown misbehaviour {unknown[0]}; known are {', '.join(MISBEHAVIOURS)}")
    runtime = fetched_runtime()
    network, described = _network()
    settings = _LIMITS | {
        "leaseMs": round(lease_seconds * 1000),
        "misbehave": sorted(set(misbehave)),
        "webgpu": webgpu,
        "model": described,
    }
    with new_folder(output_dir) as filled:
        for folder in ("shared", variant):
            shutil.copytree(HERE / "src" / folder, filled, dirs_exist_ok=True)
        (filled / "ort").mkdir()
        for name in _RUNTIME_FILES[webgpu]:
            shutil.copyfile(runtime / name, filled / "ort" / name)
        (filled / ("model.onnx" if variant == "contract" else "setup-model.onnx")).write_bytes(network)
        encoded = msgspec.json.encode(settings).decode()
        (filled / "settings.js").write_text(f"globalThis.benchbenchSettings = Object.freeze({encoded});\n", encoding="utf-8")
        manifest = msgspec.json.format(msgspec.json.encode(_manifest(variant)), indent=2)
        (filled / "manifest.json").write_bytes(manifest + b"\n")
    return output_dir


def fetched_runtime() -> Path:
    """Give the folder of ONNX Runtime's files for the browser, fetched if they are not there in the locked version.

    Processes that build at the same time wait for one another.

    Raises:
        ExtensionBuildError: npm is not installed, fails or takes longer than ``NPM_TIMEOUT``.
        OSError: ``node_modules`` cannot be written.
    """
    modules = HERE / "node_modules"
    locked = hashlib.sha256((HERE / "package-lock.json").read_bytes()).hexdigest()
    mark = modules / ".benchbench-lock"
    with _alone():
        if not mark.is_file() or mark.read_text(encoding="utf-8") != locked:
            _npm_ci()
            mark.write_text(locked, encoding="utf-8")
    return modules / "onnxruntime-web" / "dist"


@contextmanager
def _alone() -> Iterator[None]:
    """Hold a lock that the system lets go of with the process, whatever becomes of it."""
    with (HERE / "package-lock.json").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _npm_ci() -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise ExtensionBuildError("npm is not installed; apt-get install npm")
    command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    try:
        done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=NPM_TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        raise ExtensionBuildError(f"{' '.join(command)} in {HERE}: not done in {NPM_TIMEOUT:g} s") from None
    if done.returncode != 0:
        said = " ".join((done.stderr or done.stdout).split())[:500]
        raise ExtensionBuildError(f"{' '.join(command)} in {HERE}: exit {done.returncode}: {said}")


def _network() -> tuple[bytes, dict[str, Any]]:
    """Give the bytes of the network, and what the extension has to know of it.

    Raises:
        ExtensionBuildError: The package ``onnx`` is missing, or the network declares what the extension's JavaScript lacks.
    """
    reference_model = _reference_model()
    try:
        network = reference_model.model_bytes()
    except ImportError:
        raise ExtensionBuildError("the package onnx is not installed; pip install onnx") from None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / reference_model.CONFIG
        digest = hashlib.sha256(network).hexdigest()
        path.write_text(reference_model.config_text(digest), encoding="utf-8")
        config = load_config(path).config
    _demand_known_steps(config)
    return network, {
        "sha256": digest,
        "output": config.output.name,
        "preprocessingVersion": config.preprocessing_version,
        "preprocessing": msgspec.to_builtins(config.preprocessing),
    }


def _reference_model() -> Any:
    folder = str(HERE.parent)
    sys.path.insert(0, folder)
    try:
        return importlib.import_module("reference_model")
    finally:
        sys.path.remove(folder)


def _demand_known_steps(config: OnnxConfig) -> None:
    """Refuse a network whose declared steps ``preprocessing.js`` would not carry out."""
    declared = config.preprocessing
    wanted = Preprocessing(
        version=declared.version,
        colour="RGB",
        alpha=declared.alpha,
        minimum_side=declared.minimum_side,
        layout="NCHW",
        dtype="float32",
        resize=Resize(mode="shortest", filter="bilinear", antialias=True, side=getattr(declared.resize, "side", None)),
        crops=Crops(mode="five", size=declared.crops.size) if declared.crops else None,
        aggregation=declared.aggregation,
        scale=declared.scale,
    )
    joined = declared.aggregation
    is_mean_logit = config.output.kind == "logit" and joined is not None and (joined.of, joined.by) == ("logit", "mean")
    if declared != wanted or declared.alpha == "drop" or config.output.index or not is_mean_logit:
        raise ExtensionBuildError("the network declares steps that src/shared/preprocessing.js does not have")


def _manifest(variant: Variant) -> dict[str, Any]:
    return {
        "manifest_version": 3,
        "name": {"contract": "benchbench fixture", "stranger": "lattice stranger"}[variant],
        "version": "1.0.0",
        "description": "A fixture for tests: tells drawn lattices. No detector.",
        "key": _KEYS[variant],
        "minimum_chrome_version": "120",
        "permissions": ["offscreen", "storage"],
        "host_permissions": ["http://127.0.0.1/*"],
        "background": {"service_worker": "service-worker.js", "type": "module"},
        "content_scripts": [
            {
                "matches": ["http://127.0.0.1/*"],
                "js": ["settings.js", "jobs-client.js", "content.js"],
                "run_at": "document_end",
            }
        ],
        "content_security_policy": {"extension_pages": "script-src 'self' 'wasm-unsafe-eval'; object-src 'self'"},
    }


def main() -> int:
    """Build what the command line asks for."""
    parser = argparse.ArgumentParser(description="Build the fixture extension into a new folder.")
    parser.add_argument("--output-dir", type=Path, required=True, help="A new folder.")
    parser.add_argument("--variant", choices=get_args(Variant), default="contract")
    parser.add_argument("--misbehave", choices=MISBEHAVIOURS, action="append", default=[], help="May be repeated.")
    parser.add_argument("--webgpu", action="store_true", help="Run the network on the graphics adapter where there is one.")
    given = parser.parse_args()
    try:
        built = build_extension(given.output_dir, variant=given.variant, misbehave=given.misbehave, webgpu=given.webgpu)
    except (ExtensionBuildError, FolderExistsError, OSError) as error:
        print(f"build: {error}", file=sys.stderr)
        return 1
    print(f"{built}: {given.variant}, loads as an unpacked extension")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
