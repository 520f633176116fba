import json
import socket
import threading
import time
from urllib.parse import quote

import pytest

from pytest_benchbench.browser.errors import BrowserGone
from pytest_benchbench.browser.network_capture import MAX_KEPT_OF_AN_ORIGIN, NetworkCapture
from pytest_benchbench.browser.origins import origin_of

FILES = {
    "worker.js": """
chrome.runtime.onMessage.addListener((message, sender, answer) => {
  if (message.to !== "worker") return;
  (async () => {
    if (message.fresh) {
      if (await chrome.offscreen.hasDocument()) await chrome.offscreen.closeDocument();
      await chrome.offscreen.createDocument({url: "offscreen.html", reasons: ["BLOBS"], justification: "fetches"});
    }
    else if (message.from === "worker") await fetch(message.url).catch(() => {});
    else await chrome.runtime.sendMessage({...message, to: "offscreen"});
    answer("done");
  })();
  return true;
});
""",
    "offscreen.html": '<script src="early.js"></script><script src="offscreen.js"></script>',
    "early.js": "const early = new Image(); early.src = 'ELSEWHERE/early';",
    "offscreen.js": """
chrome.runtime.onMessage.addListener((message, sender, answer) => {
  if (message.to !== "offscreen") return;
  if (message.url.startsWith("ws")) new WebSocket(message.url).onerror = () => answer("done");
  else fetch(message.url).catch(() => {}).then(() => answer("done"));
  return true;
});
""",
    "content.js": """
(async () => {
  for (const message of [{fresh: true}, ...JSON.parse(decodeURIComponent(location.hash.slice(1) || "[]"))])
    await chrome.runtime.sendMessage({...message, to: "worker"});
  document.documentElement.dataset.done = "yes";
})();
""",
}


@pytest.fixture(scope="module")
def elsewhere():
    """The origin of a port of this machine at which nobody listens; it is not one that is allowed."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.9", 0))
        return f"http://127.0.0.9:{taken.getsockname()[1]}"


@pytest.fixture(scope="module")
def extension(tmp_path_factory, write_extension, elsewhere):
    """An extension that fetches in its offscreen document or its service worker what the page's fragment lists."""
    folder = write_extension(tmp_path_factory.mktemp("unpacked") / "dist", "fetcher")
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest |= {"permissions": ["offscreen"], "host_permissions": ["<all_urls>"]}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    for name, text in FILES.items():
        (folder / name).write_text(text.replace("ELSEWHERE", elsewhere))
    return folder


@pytest.fixture
def capture(browser):
    with NetworkCapture(browser.port) as watching:
        yield watching
    assert "network capture" not in {thread.name for thread in threading.enumerate()}


@pytest.fixture
def show(endpoint):
    """``show(url, *messages)``: open a page, and wait until the extension has done what the messages say."""

    def open_page(url, *messages):
        tab = endpoint.open_tab(f"{url}#{quote(json.dumps(messages))}")
        until = time.monotonic() + 120
        while tab.evaluate("document.documentElement?.dataset.done") != "yes":
            assert time.monotonic() < until, "the extension did not end"
            time.sleep(0.05)
        return tab

    return open_page


def test_what_an_offscreen_document_requests_is_seen_from_its_first_request_on(capture, show, serve, endpoint, elsewhere):
    (extension,) = endpoint.extensions()
    page, own = serve(), f"chrome-extension://{extension.id}"
    socket_url = f"{elsewhere.replace('http', 'ws')}/socket"
    show(page, {"url": f"{elsewhere}/leak?x"}, {"url": socket_url})
    assert capture.settle() == []
    assert capture.unwatched == ()
    outside = capture.outside({origin_of(page), own})
    assert [(request.url, request.method) for request in outside] == [
        (f"{elsewhere}/early", "requestWillBeSent"),
        (f"{elsewhere}/leak?x", "requestWillBeSent"),
        (socket_url, "webSocketCreated"),
    ]
    assert str(outside[1]) == f"{elsewhere}/leak?x (other, by {own}/offscreen.js)"
    assert {request.url for request in capture.requests} >= {f"{own}/offscreen.html", f"{own}/early.js"}
    assert capture.outside({origin_of(page)})[0].url.startswith(own)  # the extension's own files are allowed by name only


def test_a_page_that_was_there_before_its_frames_and_workers_are_seen(browser, show, serve, elsewhere):
    work = f"data:text/javascript,fetch('{elsewhere}/worker').catch(()=>{{}}).then(()=>postMessage(0))"
    inside = serve(f"<img src='{elsewhere}/frame'>").replace("127.0.0.1", "localhost")
    tab = show(serve())
    with NetworkCapture(browser.port) as capture:
        tab.evaluate(
            f"""new Promise(done => {{
              const frame = document.createElement('iframe');
              frame.onload = () => {{ const worker = new Worker({json.dumps(work)}); worker.onmessage = () => done(1); }};
              frame.src = {json.dumps(inside)};
              document.body.append(frame);
            }})"""
        )
        capture.settle()
        urls = [request.url for request in capture.requests]
    assert f"{elsewhere}/worker" in urls
    assert f"{elsewhere}/frame" in urls


def test_a_new_page_is_seen_with_where_it_leads(capture, endpoint, serve, elsewhere):
    endpoint.call("Target.createTarget", url=f"{elsewhere}/popup")
    capture.settle()
    assert f"{elsewhere}/popup" in [request.url for request in capture.requests]


def test_the_service_worker_has_no_session_so_that_it_can_be_suspended(capture, show, serve, endpoint, elsewhere):
    show(serve(), {"url": f"{elsewhere}/by-worker", "from": "worker"})
    capture.settle()
    assert f"{elsewhere}/by-worker" not in [request.url for request in capture.requests]  # the browser's log has it
    targets = endpoint.call("Target.getTargets")["targetInfos"]
    workers = [target["attached"] for target in targets if target["type"] == "service_worker"]
    assert workers
    assert not any(workers)


def test_many_requests_to_one_origin_are_counted_and_the_first_kept(capture, show, serve):
    page = serve()
    tab = show(page)
    count = MAX_KEPT_OF_AN_ORIGIN + 5
    tab.evaluate(f"Promise.all([...Array({count}).keys()].map(n => fetch('/' + n)))")
    capture.settle()
    assert capture.count >= count
    kept = [request for request in capture.requests if origin_of(request.url) == origin_of(page)]
    assert len(kept) == MAX_KEPT_OF_AN_ORIGIN
    assert capture.outside({origin_of(page)}) == [request for request in capture.requests if request not in kept]


def test_what_the_browser_answers_by_itself_is_no_request(capture, show, serve):
    page = serve()
    tab = show(page)
    capture.settle()
    before = capture.count
    tab.evaluate("fetch('data:,x').then(() => fetch(URL.createObjectURL(new Blob(['x']))))")
    capture.settle()
    assert capture.count == before


def test_a_page_that_is_busy_is_named_and_what_it_requested_is_known_later(capture, show, serve):
    page = serve()
    tab = show(page)
    with socket.create_server(("127.0.0.1", 0)) as holding:
        holding.settimeout(60)
        asked = (
            f"const asked = new XMLHttpRequest(); asked.open('GET', 'http://127.0.0.1:{holding.getsockname()[1]}', false)"
        )
        tab.evaluate(f"void setTimeout(() => {{ fetch('/busy'); {asked}; try {{ asked.send() }} catch {{}} }})")
        held, _ = holding.accept()  # the page does nothing else from now on
        with held:
            silent = capture.settle(0.5)
    assert [name for name in silent if name.startswith("page ")]
    assert capture.settle(60.0) == []
    assert f"{page}busy" in [request.url for request in capture.requests]


def test_a_browser_that_is_killed_ends_the_watch_in_one_line(mortal):
    with NetworkCapture(mortal.port) as capture:
        mortal.close()
        with pytest.raises(BrowserGone, match=r"the browser at 127\.0\.0\.1:\d+: it cannot be watched any more: .+"):
            capture.settle()
        assert capture.outside(()) == list(capture.requests)
        capture.close()


def test_a_port_where_nobody_listens_is_told(elsewhere):
    port = int(elsewhere.rpartition(":")[2])
    with pytest.raises(BrowserGone, match=f"no browser listens on 127.0.0.9:{port}"), NetworkCapture(port, host="127.0.0.9"):
        pass
