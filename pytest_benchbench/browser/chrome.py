"""``chrome``: an AI-image detector as its users have it, an unpacked extension in a real browser. See ``docs/chrome.md``."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import msgspec

from pytest_benchbench.adapters.base import (
    AdapterDescription,
    AdapterUnavailable,
    AnswersWithdrawn,
    BatchAdapter,
    Detection,
    DetectionError,
    Sample,
    Weights,
)
from pytest_benchbench.artifacts.media import MediaType
from pytest_benchbench.browser.checks import provider_fault
from pytest_benchbench.browser.contract import ContractError, Result, cleaned, demand, result_of
from pytest_benchbench.browser.deployed import DeployedExtension, OutsideRequest, TrafficUnknown, Wanted
from pytest_benchbench.browser.errors import BrowserError, CheckFailed
from pytest_benchbench.browser.profile import LoadedProfile, ProfileError, load_profile
from pytest_benchbench.browser.waves import MAX_WAVE, Seen

EVALUATION_MODE = "deployed"
"""How a score was made: by the pipeline that users have."""


class ChromeOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which browser is asked, and how.

    Attributes:
        port: Debugging port, on 127.0.0.1, of a browser that runs already.
        launch: A browser to start with a fresh profile: a name, looked up on ``$PATH``, or a path.
        extension: Folder of the unpacked extension, with its ``manifest.json``.
        expect_runtime: What its model has to run on; a row that ran on something else is an error.
        wave: Images in one wave.
        profile: The YAML file that says how to read an extension that does not keep the contract.
        timeout: Seconds for a wave, after which what has no answer is ``timeout``, and for the extension to be ready.
        net_log: A new file that gets the whole log of the started browser's network.
        warm: Whether the profile of the running browser was used before; setup steps are left out then.

    Raises:
        ValueError: Options contradict each other, or name what cannot be used.
    """

    port: Annotated[int, msgspec.Meta(ge=1, le=65535)] | None = None
    launch: Annotated[str, msgspec.Meta(min_length=1, max_length=4096, extra={"path": True})] | None = None
    extension: Path | None = None
    expect_runtime: Literal["wasm", "webgpu"] | None = None
    wave: Annotated[int, msgspec.Meta(ge=1, le=MAX_WAVE)] = 48
    profile: Path | None = None
    timeout: Annotated[float, msgspec.Meta(gt=0, le=3600)] = 180.0
    net_log: Path | None = None
    warm: bool = False

    def __post_init__(self) -> None:
        if self.port is None and self.launch is None and self.extension is None:  # told when it is asked
            return
        if (self.port is None) == (self.launch is None):
            raise ValueError("give one of port= (a browser that runs) and launch= (a browser to start), and not both")
        if self.extension is None:
            raise ValueError("give extension=, the folder of the unpacked extension")
        if not (self.extension / "manifest.json").is_file():
            raise ValueError(f"extension={self.extension}: there is no extension: it has no manifest.json")
        if self.launch is None and self.net_log is not None:
            raise ValueError("net_log= belongs to launch=: a browser that runs was given its log when it was started")
        if self.launch is not None and self.warm:
            raise ValueError("warm=true belongs to port=: a browser that is started has a fresh profile")
        if self.profile is not None:
            load_profile(self.profile).check_files()  # a faulty file is a fault of the command line


class Chrome(BatchAdapter):
    """Scores images in waves through an extension in a browser: what it shows is what its users see."""

    name: ClassVar[str] = "chrome"
    media_types: ClassVar[frozenset[MediaType]] = frozenset({"image"})
    needs: ClassVar[Literal["bytes"]] = "bytes"
    Options: ClassVar[type[msgspec.Struct]] = ChromeOptions
    options: ChromeOptions

    def __init__(self, options: ChromeOptions | None = None) -> None:
        super().__init__(options)
        self.batch_size = self.options.wave
        self._wanted: Wanted | None = None
        self._profile: LoadedProfile | None = None
        self._deployed: DeployedExtension | None = None
        self._description: AdapterDescription | None = None
        self._withdrawn: BrowserError | None = None
        self._has_scored = False

    def load(self) -> None:
        """Start or find the browser, check it, set the extension up, and wait until it is ready.

        Raises:
            AdapterUnavailable: No browser is named or installed, or a package is missing.
            BrowserError: It is not the browser that was asked for, or the extension is not ready; see ``DeployedExtension``.
        """
        options = self.options
        if options.extension is None:
            raise AdapterUnavailable(
                "no browser is named", "give --bench-adapter=chrome:launch=chromium,extension=dist/, see docs/chrome.md"
            )
        if options.profile is not None:
            try:
                self._profile = load_profile(options.profile)
                self._profile.check_files()
            except ProfileError as error:  # it was sound when the options were read
                raise CheckFailed(str(error), options.profile) from None
        self._wanted = Wanted(
            options.extension.absolute(),
            options.port,
            options.launch,
            options.expect_runtime,
            self._profile,
            options.timeout,
            options.net_log,
            options.warm,
        )
        self._deployed = DeployedExtension(self._wanted)
        self._description = self._describe(self._deployed)

    def detect_batch(self, samples: Sequence[Sample]) -> list[Detection | DetectionError]:
        """Show one wave; every image reaches a terminal status or is an error.

        A browser that has ended is started or looked for once more by the next wave.

        Raises:
            BrowserError: The browser cannot be had again, or a request left the machine: then no answer of the wave counts.
        """
        deployed = self._ready()
        try:
            seen = deployed.show([sample.data for sample in samples])
        finally:
            if not deployed.alive:
                self._let_go()
        answers: list[Detection | DetectionError] = []
        for sample, one in zip(samples, seen, strict=True):
            answers.append(self._answer(sample, one, deployed))
        self._mark_first(answers, seen)
        return answers

    def close(self) -> None:
        """End the browser that was started, and let go of one that was not.

        Raises:
            OutsideRequest: Something was requested that leaves the machine, by this browser or by one that has ended.
            TrafficUnknown: What was requested at last is not known.
        """
        with suppress(AnswersWithdrawn):  # remembered
            self._let_go()
        withdrawn, self._withdrawn = self._withdrawn, None
        if withdrawn is not None:
            raise withdrawn

    def describe(self) -> AdapterDescription:
        """The extension and its version, the browser and its flags, and what the extension's answers rest on."""
        if self._description is None:
            raise RuntimeError("load() comes first")
        return self._description

    @property
    def deployed(self) -> DeployedExtension:
        """The browser with the extension in it, which ``load`` opened.

        Raises:
            RuntimeError: It has ended, or ``load`` comes first.
        """
        if self._deployed is None:
            raise RuntimeError("there is no browser: it has ended, or load() comes first")
        return self._deployed

    def _ready(self) -> DeployedExtension:
        if self._wanted is None:
            raise RuntimeError("load() comes first")
        if self._deployed is None:
            deployed = DeployedExtension(self._wanted)
            if (found := self._describe(deployed)) != self._description:
                self._end(deployed)
                raise CheckFailed(f"another browser or extension than before: {found.version}; {found.rule}")
            self._deployed, self._has_scored = deployed, False
        return self._deployed

    def _let_go(self) -> None:
        deployed, self._deployed = self._deployed, None
        if deployed is not None:
            self._end(deployed)

    def _end(self, deployed: DeployedExtension) -> None:
        """Close a browser; what is found out then concerns all answers that it gave, in earlier waves too."""
        try:
            deployed.close()
        except (OutsideRequest, TrafficUnknown) as error:
            self._withdrawn = self._withdrawn or error
            raise

    def _describe(self, deployed: DeployedExtension) -> AdapterDescription:
        ready, runtime = deployed.ready, self.options.expect_runtime or "any"
        said = [
            "the score that the extension shows, without a threshold of its own",
            f"{EVALUATION_MODE}, {deployed.profile} profile, {runtime} runtime",
            *(f"{name} {value}" for name, value in sorted(deployed.known.items()) if name != "modelSha256"),
        ]
        files: tuple[Weights, ...] = ()
        if (profile := self._profile) is not None:
            said.append(f"read by the profile {profile.path.name} of SHA-256 {profile.sha256}")
            said.append(f"not exposed: {', '.join(profile.profile.not_exposed) or 'nothing'}")
            files = tuple(Weights(profile.locate(name).name, file.sha256) for name, file in profile.profile.files.items())
        elif (model := deployed.known.get("modelSha256")) is not None:
            files = (Weights("model of the extension", model),)
        said.append(f"flags {' '.join(deployed.flags)}")
        return AdapterDescription(f"{ready.name} {ready.version} in {deployed.product}", "; ".join(said), files)

    def _answer(self, sample: Sample, seen: Seen, deployed: DeployedExtension) -> Detection | DetectionError:
        if seen.fault is not None:
            return DetectionError(type(seen.fault).__name__, str(seen.fault))
        assert seen.record is not None  # a wave leaves nothing unsettled
        try:
            said = {name: value for name, value in seen.record.items() if value is not None}
            result = result_of(deployed.known | said)
            self._check(result, sample, deployed)
        except (ContractError, CheckFailed) as error:
            return DetectionError(type(error).__name__, str(error))
        facts: dict[str, Any] = {
            **result.facts(),
            "evaluationMode": EVALUATION_MODE,
            "profile": deployed.profile,
        }
        if seen.wall_ms is not None:
            facts["wallMs"] = seen.wall_ms
        if seen.hidden:
            facts["tabHidden"] = True
        if result.status == "scored":
            facts["decidedBy"] = "metadata" if result.by_metadata else "pixels"
            facts["first"] = False
        reason = None if result.reason is None else cleaned(result.reason)
        return Detection(result.status, score=result.score, reason=reason, scorer=facts)

    def _check(self, result: Result, sample: Sample, deployed: DeployedExtension) -> None:
        """Hold an answer against what was asked.

        Raises:
            ContractError: It lacks what the contract demands, or is about other bytes.
            CheckFailed: It was made by another model or on another runtime than was to be asked.
        """
        if self._profile is None:
            demand(result)
        if result.sha256 not in (None, sample.sha256):
            raise ContractError(f"the extension fetched bytes of SHA-256 {result.sha256}, the image's is {sample.sha256}")
        for name, value in deployed.known.items():
            if (said := getattr(result, name)) != value:
                raise CheckFailed(f"the extension says {name} {said} of this image, and said {value} before")
        runtime = self.options.expect_runtime
        if result.status == "scored" and runtime is not None and (fault := provider_fault(result.provider, runtime)):
            raise CheckFailed(fault)

    def _mark_first(self, answers: list[Detection | DetectionError], seen: Sequence[Seen]) -> None:
        """Mark the first image that this browser process scored by its pixels: it bears the loading of the model."""
        if self._has_scored:
            return
        by_pixels = [
            (seen[place].wall_ms or 0.0, place)
            for place, answer in enumerate(answers)
            if isinstance(answer, Detection) and (answer.scorer or {}).get("decidedBy") == "pixels"
        ]
        if by_pixels:
            answer = answers[min(by_pixels)[1]]
            assert isinstance(answer, Detection)
            answers[min(by_pixels)[1]] = msgspec.structs.replace(answer, scorer={**(answer.scorer or {}), "first": True})
            self._has_scored = True
