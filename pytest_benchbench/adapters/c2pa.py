"""``c2pa``: whether a file carries a C2PA manifest that holds, and what it states. Validated by ``c2pa-python``, offline."""

from __future__ import annotations

import hashlib
import io
import warnings
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import msgspec

from pytest_benchbench.adapters.base import Adapter, AdapterDescription, AdapterUnavailable, Detection, Sample
from pytest_benchbench.adapters.c2pa_formats import FORMATS, mime_of
from pytest_benchbench.adapters.c2pa_manifest import ManifestReport, read_report
from pytest_benchbench.artifacts.media import MediaType

if TYPE_CHECKING:
    from types import ModuleType

INSTALL = "pip install 'pytest-benchbench[c2pa]'"

MAX_TRUST_LIST_BYTES = 1 << 24
"""Largest file of trust anchors that is read: 16 MiB. The list of C2PA itself has some 50 KB."""

SETTINGS: dict[str, dict[str, Any]] = {
    "verify": {
        "verify_after_reading": True,
        "verify_trust": True,
        "verify_timestamp_trust": True,
        "remote_manifest_fetch": False,
        "ocsp_fetch": False,
    },
    # no host at all, whatever the reader wants there; identity assertions (CAWG) may name one and do not ask this list
    "core": {"allowed_network_hosts": [], "decode_identity_assertions": False},
}
"""How the reader is set up. Its defaults would fetch manifests and identity documents from wherever a file says."""

_REMOTE = "Remote: must fetch remote manifests from url "
"""How c2pa-rs says that there is no manifest in the file but a URL of one."""


class C2paReadError(Exception):
    """The file, or the manifest store in it, is broken."""


class C2paOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is demanded of a manifest.

    Attributes:
        trust_anchors: Certificates (PEM) of the authorities whose signers and time stamps are trusted; none by default.
        require: ``valid``: a manifest that holds is detected, whoever signed it. ``trusted``: only one whose signer is on
            the trust list.

    Raises:
        ValueError: ``trusted`` without ``trust_anchors``, under which nothing could be detected.
    """

    trust_anchors: Path | None = None
    require: Literal["valid", "trusted"] = "valid"

    def __post_init__(self) -> None:
        if self.require == "trusted" and self.trust_anchors is None:
            raise ValueError("require=trusted needs a trust list, trust_anchors=FILE.pem")


@dataclass(frozen=True, slots=True)
class _TrustList:
    """A file of certificates that was read, with its digest; ``pem`` holds the certificates and nothing else."""

    name: str
    sha256: str
    certificates: int
    pem: str


class C2pa(Adapter):
    """Reads and validates the manifest store in a file's bytes; several threads may ask one instance."""

    name: ClassVar[str] = "c2pa"
    media_types: ClassVar[frozenset[MediaType]] = frozenset({"image", "audio", "video"})
    needs: ClassVar[Literal["bytes"]] = "bytes"
    verified_weights: ClassVar[frozenset[str]] = frozenset()
    Options: ClassVar[type[msgspec.Struct]] = C2paOptions
    options: C2paOptions

    def __init__(self, options: C2paOptions | None = None) -> None:
        super().__init__(options)
        self._c2pa: ModuleType | None = None
        self._context: Any = None
        self._trust_list: _TrustList | None = None

    def load(self) -> None:
        """Import the package, read the trust list and set up the reader.

        Raises:
            AdapterUnavailable: The package cannot be imported, or the trust list cannot be read.
        """
        try:
            import c2pa
        except (ImportError, OSError, RuntimeError) as error:  # the last two when its native library does not load
            raise AdapterUnavailable(f"c2pa-python cannot be imported: {_one_line(error)}", INSTALL) from error
        settings = SETTINGS
        if self.options.trust_anchors is not None:
            self._trust_list = _read_trust_list(self.options.trust_anchors)
            settings = {**SETTINGS, "trust": {"trust_anchors": self._trust_list.pem}}
        self._c2pa = c2pa
        self._context = c2pa.Context.from_dict(settings)

    def detect(self, sample: Sample) -> Detection:
        """Answer ``detected``, ``not_detected``, ``disabled`` for a manifest that lies at a URL, or ``unsupported``.

        A manifest that is there and does not hold (``Invalid``) is ``not_detected``; the reason and the block ``scorer``
        say so.

        Raises:
            C2paReadError: The file or its manifest store cannot be parsed.
        """
        mime = mime_of(sample.data, sample.media_type)
        if mime is None:
            known = FORMATS[sample.media_type]
            return Detection("unsupported", reason=f"C2PA manifests are read from {known}; the file is none of them")
        package = self._loaded()
        try:
            with package.Reader(mime, io.BytesIO(sample.data), context=self._context) as reader:
                text = reader.json()
        except package.C2paError.ManifestNotFound:
            return Detection("not_detected", reason="no C2PA manifest in the file")
        except package.C2paError as error:
            message = _one_line(error)
            if message.startswith(_REMOTE):
                return Detection(
                    "disabled",
                    reason="the file names a URL for its manifest, and the network is never used",
                    scorer={"remote_manifest": message.removeprefix(_REMOTE)},
                )
            raise C2paReadError(message) from None
        try:
            report = read_report(text)
        except ValueError as error:
            raise C2paReadError(str(error)) from None
        return self._judge(report)

    def close(self) -> None:
        """Let go of the reader's settings."""
        if self._context is not None:
            self._context.close()
        self._context = self._c2pa = None

    def describe(self) -> AdapterDescription:
        """Versions, the rule and the trust list's digest."""
        from importlib.metadata import version

        demanded = "Valid or Trusted" if self.options.require == "valid" else "Trusted"
        trust = self._trust_list
        anchors = f"{trust.name}, {trust.certificates} certificates, SHA-256 {trust.sha256}" if trust else "none"
        rule = (
            f"detected: the file carries a C2PA manifest whose validation state is {demanded}; Invalid, and no manifest, is "
            "not_detected; the signing certificate must be valid at the time of a trusted timestamp, without one on the day "
            f"of validation (scorer.validated_on), so such a verdict may change with the date; trust anchors: {anchors}; "
            "offline: no remote manifest, no OCSP request, no identity assertion"
        )
        return AdapterDescription(f"c2pa-python {version('c2pa-python')}, c2pa-rs {self._loaded().sdk_version()}", rule)

    def _judge(self, report: ManifestReport) -> Detection:
        scorer = {**report.facts, "validated_on": datetime.now(UTC).date().isoformat(), "require": self.options.require}
        if self._trust_list is not None:
            trust = self._trust_list
            scorer["trust_list"] = {"name": trust.name, "sha256": trust.sha256, "certificates": trust.certificates}
        codes = f": {', '.join(report.failures)}" if report.failures else ""
        # results of reports show the reason: it says nothing of the date
        reason = f"{report.state} manifest{codes}"
        if report.state == "Trusted" or (report.state == "Valid" and self.options.require == "valid"):
            return Detection("detected", label=", ".join(report.source_types) or None, reason=reason, scorer=scorer)
        return Detection("not_detected", reason=reason, scorer=scorer)

    def _loaded(self) -> Any:
        if self._c2pa is None:
            raise RuntimeError("load() comes first")
        return self._c2pa


def _read_trust_list(path: Path) -> _TrustList:
    """Read a PEM file whose every certificate parses: the reader itself passes over what it cannot read.

    Raises:
        AdapterUnavailable: The file cannot be read, is too large, or holds something else.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding

    remedy = "point trust_anchors= at a PEM file of certificates"
    try:
        with path.open("rb") as file:
            data = file.read(MAX_TRUST_LIST_BYTES + 1)
    except OSError as error:
        raise AdapterUnavailable(f"{path} cannot be read: {error.strerror}", remedy) from error
    if len(data) > MAX_TRUST_LIST_BYTES:
        raise AdapterUnavailable(f"{path} has more than {MAX_TRUST_LIST_BYTES:,} bytes", remedy)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns of old certificates, which a trust list may well hold
            certificates = x509.load_pem_x509_certificates(data)
            pem = b"".join(certificate.public_bytes(Encoding.PEM) for certificate in certificates)
    except ValueError as error:
        raise AdapterUnavailable(f"{path} is no list of certificates: {_one_line(error)}", remedy) from error
    return _TrustList(path.name, hashlib.sha256(data).hexdigest(), len(certificates), pem.decode("ascii"))


def _one_line(error: Exception) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in str(error)).split())[:300]
