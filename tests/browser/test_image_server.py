import http.client
import threading

import pytest

from pytest_benchbench.browser.image_server import Fetches, ImageServer, image_type

PNG = b"\x89PNG\r\n\x1a\n" + b"a"
JPEG = b"\xff\xd8\xff" + b"b"


@pytest.fixture
def server():
    with ImageServer() as server:
        yield server


@pytest.fixture
def get(server):
    connection = http.client.HTTPConnection(server.origin.removeprefix("http://"), timeout=10)

    def get(url, method="GET", **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, url.removeprefix(server.origin), headers=headers)
        response = connection.getresponse()
        return response, response.read()

    yield get
    connection.close()


def test_serves_the_very_bytes_under_their_type_and_lets_nothing_be_kept(server, get):
    page = server.show([PNG, JPEG], box=200)
    response, body = get(page.images[1])
    assert (response.status, body, response.headers["Content-Type"]) == (200, JPEG, "image/jpeg")
    assert response.headers["Cache-Control"] == "no-store"
    assert page.images[0].endswith(".png")


def test_a_page_has_its_images_in_order_and_nothing_from_elsewhere(server, get):
    page = server.show([PNG, JPEG, PNG], box=321)
    _, body = get(page.url)
    places = [body.index(url.removeprefix(server.origin).encode()) for url in page.images]
    assert places == sorted(places)
    assert b"321px" in body
    assert body.count(b"://") == 0


def test_the_same_bytes_twice_are_two_images_with_paths_that_nobody_can_guess(server):
    first, second = server.show([PNG, PNG], box=200).images
    assert first != second
    assert len(first.removeprefix(server.origin)) > 40
    assert server.show([PNG], box=200).images[0] not in (first, second)


def test_counts_who_fetched(server, get):
    url, other = server.show([PNG, PNG], box=200).images
    get(url, Sec_Fetch_Dest="image")
    get(url, Sec_Fetch_Dest="empty")
    get(url, Sec_Fetch_Dest="empty")
    get(url, method="HEAD", Sec_Fetch_Dest="empty")
    assert server.fetches(url) == Fetches(page=1, extension=2)
    assert server.fetches(other) == Fetches(page=0, extension=0)


def test_an_image_of_the_wave_before_is_gone(server, get):
    before = server.show([PNG], box=200)
    server.show([JPEG], box=200)
    assert get(before.images[0])[0].status == 404
    with pytest.raises(KeyError):
        server.fetches(before.images[0])


@pytest.mark.parametrize("path", ["/", "/../../etc/passwd", "/etc/passwd", "//", "/favicon.ico", "/%2e%2e/"])
def test_serves_nothing_else(server, get, path):
    server.show([PNG], box=200)
    response, body = get(path)
    assert (response.status, body) == (404, b"")


def test_a_foreign_name_that_leads_here_gets_nothing(server, get):
    url = server.show([PNG], box=200).images[0]
    assert get(url, Host="evil.example.com")[0].status == 404
    assert server.fetches(url) == Fetches(0, 0)


def test_other_methods_are_refused(server, get):
    url = server.show([PNG], box=200).images[0]
    assert get(url, method="POST")[0].status == 501


def test_closing_ends_kept_connections_and_leaves_no_thread():
    before = set(threading.enumerate())
    server = ImageServer()
    url = server.show([PNG], box=200).images[0]
    connection = http.client.HTTPConnection(server.origin.removeprefix("http://"), timeout=10)
    connection.request("GET", url.removeprefix(server.origin))
    assert connection.getresponse().read() == PNG
    server.close()
    server.close()
    assert set(threading.enumerate()) <= before
    connection.close()


def test_a_browser_that_hangs_up_is_no_noise(server, get, capfd):
    url = server.show([PNG * 1_000_000], box=200).images[0]
    hasty = http.client.HTTPConnection(server.origin.removeprefix("http://"), timeout=10)
    hasty.request("GET", url.removeprefix(server.origin))
    hasty.close()
    assert get(url)[0].status == 200
    server.close()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("data", "mime"),
    [
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"\0\0\0\x1cftypavif", "image/avif"),
        (b"GIF89a", "image/gif"),
        (b"BM\0\0", "image/bmp"),
        (b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>', "image/svg+xml"),
        (b"\0\0\0\x0cJXL \r\n", "image/jxl"),
        (b"", "application/octet-stream"),
        (b"RIFF\0\0\0\0WAVE", "application/octet-stream"),
        (b"\0\0\0\x1cftypmp42", "application/octet-stream"),
    ],
)
def test_a_type_is_told_by_the_first_bytes(data, mime):
    assert image_type(data)[0] == mime
