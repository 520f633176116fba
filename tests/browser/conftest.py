"""A real browser for the tests. Without one they are skipped, but fail in ``tox -e browser``: ``BENCHBENCH_BROWSER=1``."""

import hashlib
import importlib.util
import io
import json
import os
import shutil
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

import pytest

from pytest_benchbench.adapters.base import AdapterUnavailable
from pytest_benchbench.browser.endpoint import Endpoint
from pytest_benchbench.browser.installed import find_browser
from pytest_benchbench.browser.launching import launch_browser
from pytest_benchbench.browser.namespace import isolation_of, network_of

REQUIRED = os.environ.get("BENCHBENCH_BROWSER") == "1"


def absent(reason):
    """Skip, or fail where a browser has to be there."""
    if REQUIRED:
        pytest.fail(f"BENCHBENCH_BROWSER=1, but {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def chromium():
    """The browser that is installed."""
    missing = [name for name in ("pychrome", "websocket") if find_spec(name) is None]
    if missing:
        absent(f"these modules are not installed: {', '.join(missing)}")
    try:
        return find_browser()
    except AdapterUnavailable as error:
        return absent(str(error))


@pytest.fixture(scope="session")
def way_out():
    """A network in which WebRTC tries what it can."""
    if not isolation_of(os.getpid(), network_of()).open:
        pytest.skip("this machine has no network in which attempts could be seen")


@pytest.fixture(scope="session")
def node():
    """Node and npm, by which the fixture extension is built."""
    missing = [name for name in ("node", "npm") if shutil.which(name) is None]
    if missing:
        absent(f"these programs are not installed: {', '.join(missing)}")


@pytest.fixture(scope="session")
def build_extension(node, tmp_path_factory):
    """``build_extension(**options)``: the folder of the fixture extension, built once for each set of options."""
    if find_spec("onnx") is None:
        absent("the module onnx is not installed")
    place = Path(__file__).parents[2] / "benchmarks" / "extension" / "build.py"
    spec = importlib.util.spec_from_file_location("extension_build", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    built = {}

    def build(**options):
        key = json.dumps(options, sort_keys=True)
        if key not in built:
            built[key] = module.build_extension(tmp_path_factory.mktemp("built") / "dist", **options)
        return built[key]

    return build


@pytest.fixture(scope="session")
def picture():
    """``picture(seed)``: a small PNG as a sample, another one for each seed."""
    import numpy as np
    from PIL import Image

    from pytest_benchbench.adapters.base import Sample

    def draw(seed):
        levels = np.random.default_rng(seed).integers(0, 256, (8, 8, 3), dtype=np.uint8)
        file = io.BytesIO()
        Image.fromarray(levels).resize((160, 160)).save(file, "PNG")
        return Sample("image", hashlib.sha256(file.getvalue()).hexdigest(), file.getvalue())

    return draw


@pytest.fixture(scope="session")
def write_extension():
    """``write_extension(folder, name)``: write an extension that marks pages of loopback, in their isolated world only."""

    def write(folder, name="probe"):
        folder.mkdir(parents=True)
        manifest = {
            "manifest_version": 3,
            "name": name,
            "version": "1.2",
            "background": {"service_worker": "worker.js"},
            "content_scripts": [{"matches": ["http://127.0.0.1/*"], "js": ["content.js"]}],
        }
        (folder / "manifest.json").write_text(json.dumps(manifest))
        (folder / "worker.js").write_text(
            "globalThis.worker = true\nchrome.runtime.onMessage.addListener((message, sender, answer) => answer('awake'))\n"
        )
        (folder / "content.js").write_text("globalThis.secret = 0.1 + 0.2\n")
        return folder

    return write


@pytest.fixture(scope="module")
def extension(tmp_path_factory, write_extension):
    """The folder of an extension."""
    return write_extension(tmp_path_factory.mktemp("unpacked") / "dist")


@pytest.fixture(scope="module")
def browser(chromium, extension):
    """A browser that the tests of a module share; none of them ends it."""
    with launch_browser(chromium.executable, extension=extension, runtime="wasm") as launched:
        yield launched


@pytest.fixture
def mortal(chromium, extension):
    """A browser that the test may end."""
    with launch_browser(chromium.executable, extension=extension, runtime="wasm") as launched:
        yield launched


@pytest.fixture
def endpoint(browser):
    """A connection to the shared browser; its tabs are closed with the test."""
    with Endpoint(browser.port) as connected:
        before = {target.id for target in connected.targets()}
        yield connected
        for target in connected.targets():
            if target.type == "page" and target.id not in before:
                connected.close_tab(target)


@pytest.fixture
def serve():
    """``serve(body)``: serve one page on loopback, and give its URL."""
    servers = []

    def start(body="<p>a page"):
        class Page(BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *arguments):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        servers.append((server, thread))
        return f"http://127.0.0.1:{server.server_port}/"

    yield start
    for server, thread in servers:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="session")
def isolated_world():
    """``isolated_world(tab)``: the world of the extension's content script, which may come later than all of the page."""

    def find(tab, *, after=None):
        until = time.monotonic() + 60
        while not (found := [world for world in tab.worlds() if world.isolated and world != after]):
            assert time.monotonic() < until, "the content script does not come"
            time.sleep(0.02)
        return found[0]

    return find


WAKE = """(async () => {
  for (;;) {
    try { return await chrome.runtime.sendMessage("wake") }
    catch { await new Promise(done => setTimeout(done, 20)) } // it has not been started for the first time
  }
})()"""


@pytest.fixture
def worker(endpoint, serve, isolated_world):
    """The service worker of the extension, just woken: an idle one is ended after half a minute, in the midst of tests."""
    tab = endpoint.open_tab(serve())
    assert tab.evaluate(WAKE, world=isolated_world(tab), timeout=60) == "awake"
    (woken,) = (target for target in endpoint.targets() if target.type == "service_worker")
    return woken


@pytest.fixture
def processes_of():
    """``processes_of(pid)``: the processes of a group that live; those that ended and wait to be reaped by others do not."""

    def find(group):
        listed = subprocess.run(["ps", "-eo", "pid=,pgid=,stat="], capture_output=True, text=True, check=True).stdout
        rows = [line.split() for line in listed.splitlines()]
        return [int(pid) for pid, pgid, state in rows if int(pgid) == group and not state.startswith("Z")]

    return find


class NetLogs:
    """Writes logs of a browser's network as Chromium does."""

    PAGE = "http://127.0.0.1:8000"
    EXTENSION = f"chrome-extension://{'a' * 32}"
    NAMES = (
        *("REQUEST_ALIVE", "URL_REQUEST_START_JOB", "HOST_RESOLVER_MANAGER_REQUEST", "HOST_RESOLVER_MANAGER_JOB"),
        *("DNS_TRANSACTION", "TCP_CONNECT_ATTEMPT", "UDP_CONNECT", "UDP_BYTES_SENT"),
    )
    HEAD = {
        "clientInfo": {"command_line": "chromium --log-net-log=x", "name": "Chromium", "version": "156.0.8078.108"},
        "logEventPhase": {"PHASE_BEGIN": 1, "PHASE_END": 2, "PHASE_NONE": 0},
        "logEventTypes": {name: number for number, name in enumerate(NAMES)},
        "logFormatVersion": 1,
    }

    def event(self, name, source=1, phase=1, **parameters):
        """Give an event."""
        number = self.NAMES.index(name)
        line = {"phase": phase, "source": {"id": source, "start_time": "1", "type": 1}, "time": "2", "type": number}
        return line | ({"params": parameters} if parameters else {})

    def request(self, url, initiator=EXTENSION):
        """Give the event of a request."""
        return self.event("URL_REQUEST_START_JOB", url=url, initiator=initiator, method="GET")

    def written(self, events, head=HEAD):
        """Write a complete log."""
        lines = ",\n".join(json.dumps(each) for each in events)
        ending = '"polledData": [{"badProxies":[]}]\n}\n'
        return f'{{"constants":{json.dumps(head)},\n"events": [\n{lines}],\n{ending}'.encode()


@pytest.fixture(scope="session")
def net_logs():
    """Writes logs of a browser's network."""
    return NetLogs()
