"""The flags that a browser is launched with, in groups by what they are for."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

Runtime = Literal["wasm", "webgpu"]
"""On what the extension's model is to run: the processor, or WebGPU (a software adapter where there is no graphics card)."""

HEADLESS = ("--headless=new", "--window-size=1400,2400")
"""No screen; a window in which a whole wave of thumbnails is in view, for extensions that wait for that."""

FIRST_RUN = (
    *("--no-first-run", "--no-default-browser-check", "--disable-default-apps"),
    *("--password-store=basic", "--use-mock-keychain", "--lang=en-US"),
)
"""A fresh profile asks nothing, and does not ask the desktop either."""

_UNWANTED_FEATURES = (
    *("OptimizationHints", "MediaRouter", "DialMediaRouteProvider", "NetworkTimeServiceQuerying"),
    *("AutofillServerCommunication", "CertificateTransparencyComponentUpdater", "Translate"),
    *("AimEnabled", "PreconnectToSearch"),  # Chromium 150 asks the search engine for both, 156 does not
)

_NOWHERE = "http://127.0.0.1:9/"
"""Where nobody listens: what the browser's own services ask and no flag keeps from asking ends on this machine."""

QUIET = (
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-domain-reliability"),
    *("--disable-client-side-phishing-detection", "--metrics-recording-only", "--no-pings", "--disable-quic"),
    f"--disable-features={','.join(_UNWANTED_FEATURES)}",  # once: of two such flags the browser takes the last
    *(f"--gaia-url={_NOWHERE}", f"--component-updater=url-source={_NOWHERE}"),
    *(f"--gcm-{service}={_NOWHERE}" for service in ("checkin-url", "mcs-endpoint", "registration-url")),
    "--no-proxy-server",
)
"""The browser itself asks nothing of the network, and the machine's proxy is not asked for what it does ask."""

DEBUGGING = ("--remote-debugging-port=0", "--remote-debugging-pipe")
"""A free port, and a pipe: the browser ends when its other end closes, whatever this process died of."""

OF_RUNTIME: dict[Runtime, tuple[str, ...]] = {"wasm": ("--disable-gpu",), "webgpu": ("--enable-unsafe-webgpu",)}
"""``--disable-gpu`` does not switch WebGPU off where it is enabled: which one was used is judged by what ran."""

NO_SANDBOX = "--no-sandbox"
"""Without it the browser does not start as root."""

SMALL_SHARED_MEMORY = "--disable-dev-shm-usage"
"""For containers with a small ``/dev/shm``, in which pages would crash."""


def launch_flags(
    *,
    extension: Path,
    runtime: Runtime,
    profile: Path,
    net_log: Path,
    sandbox: bool,
    small_shared_memory: bool,
) -> tuple[str, ...]:
    """Put the flags of one launch together; a first page, ``about:blank``, comes last.

    Args:
        extension: The unpacked extension, absolute, the only one that is loaded.
        runtime: On what its model is to run.
        profile: The folder of the profile.
        net_log: Where the browser writes down all of its traffic.
        sandbox: Whether pages are confined; not possible as root.
        small_shared_memory: Whether ``/dev/shm`` is too small to be used.
    """
    return (
        *HEADLESS,
        *FIRST_RUN,
        *QUIET,
        *DEBUGGING,
        *OF_RUNTIME[runtime],
        *(() if sandbox else (NO_SANDBOX,)),
        *((SMALL_SHARED_MEMORY,) if small_shared_memory else ()),
        f"--log-net-log={net_log}",
        f"--user-data-dir={profile}",
        f"--load-extension={extension}",
        f"--disable-extensions-except={extension}",
        "about:blank",
    )
