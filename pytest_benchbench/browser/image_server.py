"""A server on loopback from which a browser gets the images of one wave at a time, and nothing else."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from types import TracebackType
from typing import Self

IDLE_S = 60.0
"""After this long without a request a kept connection is closed, seconds."""

_SIGNATURES = (
    (b"\xff\xd8\xff", "image/jpeg", "jpg"),
    (b"\x89PNG\r\n\x1a\n", "image/png", "png"),
    (b"GIF8", "image/gif", "gif"),
    (b"BM", "image/bmp", "bmp"),
    (b"II*\0", "image/tiff", "tiff"),
    (b"MM\0*", "image/tiff", "tiff"),
    (b"\0\0\0\x0cJXL ", "image/jxl", "jxl"),
    (b"\xff\x0a", "image/jxl", "jxl"),
)

_BRANDS = {b"avif": "avif", b"avis": "avif", b"heic": "heic", b"heix": "heic", b"mif1": "heif"}


def image_type(data: bytes) -> tuple[str, str]:
    """Tell the MIME type and the usual suffix of a file by its first bytes.

    A file that is none of the known ones is served as ``application/octet-stream``: what a browser makes of it is the
    browser's own answer.
    """
    for signature, mime, suffix in _SIGNATURES:
        if data.startswith(signature):
            return mime, suffix
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp", "webp"
    if data[4:8] == b"ftyp" and (kind := _BRANDS.get(data[8:12])):
        return f"image/{kind}", kind
    if b"<svg" in data[:1024]:
        return "image/svg+xml", "svg"
    return "application/octet-stream", "bin"


@dataclass(frozen=True, slots=True)
class Fetches:
    """How often an image was fetched, and by whom.

    Attributes:
        page: By an ``<img>`` of a page, which says ``Sec-Fetch-Dest: image``.
        extension: By a script that calls ``fetch``, as the extension does: ``Sec-Fetch-Dest: empty``.
    """

    page: int
    extension: int


@dataclass(frozen=True, slots=True)
class WavePage:
    """A page with the images of one wave.

    Attributes:
        url: Of the page.
        images: URLs of its images, in the order of the page.
    """

    url: str
    images: tuple[str, ...]


@dataclass(slots=True)
class _Served:
    mime: str
    data: bytes
    page: int = 0
    extension: int = 0


class _Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = False  # joined: no thread outlives the server

    def __init__(self) -> None:
        self.served: dict[str, _Served] = {}
        self.marks = f"/{secrets.token_urlsafe(24)}/"
        self.lock = Lock()
        self.connections: set[socket.socket] = set()
        self.closing = False
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def authority(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a browser that hangs up has its reasons, and stderr is the run's."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = IDLE_S

    def setup(self) -> None:
        super().setup()
        with self.server.lock:
            self.server.connections.add(self.connection)
            if self.server.closing:  # accepted just before: nobody else would end it
                self.connection.shutdown(socket.SHUT_RDWR)

    def finish(self) -> None:
        with self.server.lock:
            self.server.connections.discard(self.connection)
        with suppress(OSError):
            super().finish()

    def do_GET(self) -> None:
        self._answer(body=True)

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def _answer(self, *, body: bool) -> None:
        served, is_mark = None, False
        if self.headers.get("Host") == self.server.authority:  # a name that leads here is somebody else's page
            with self.server.lock:
                served = self.server.served.get(self.path)
                is_mark = self.path.startswith(self.server.marks)
                if served is not None and body:
                    served.page += self.headers.get("Sec-Fetch-Dest") == "image"
                    served.extension += self.headers.get("Sec-Fetch-Dest") == "empty"
        if is_mark:
            self.send_response(204)
            self.end_headers()
            return
        self.send_response(200 if served else 404)
        data = served.data if served else b""
        self.send_header("Content-Type", served.mime if served else "text/plain")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if body:
            self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Write no log: requests are counted."""


class ImageServer:
    """Serves registered bytes under paths that nobody can guess, on a free port of 127.0.0.1; use it in a ``with``.

    Nothing is cached (``Cache-Control: no-store``), and no file is ever opened: what is served was registered as bytes.

    Attributes:
        origin: ``http://127.0.0.1:PORT``.
    """

    def __init__(self) -> None:
        self._server = _Server()
        self.origin = f"http://{self._server.authority}"
        self._thread = Thread(target=self._server.serve_forever, name="image-server", kwargs={"poll_interval": 0.05})
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def show(self, images: Sequence[bytes], *, box: int) -> WavePage:
        """Make a page of images, in place of the one before.

        Each image has the attribute ``data-place`` with its number, from 0, and stands alone in a ``<figure>``.

        Args:
            images: The files; the same bytes twice are two images.
            box: Side of the square in which each is shown, CSS pixels.
        """
        token = secrets.token_urlsafe(24)
        served: dict[str, _Served] = {}
        paths = []
        for place, data in enumerate(images):
            mime, suffix = image_type(data)
            paths.append(f"/{token}/{place:02d}-{secrets.token_urlsafe(9)}.{suffix}")
            served[paths[-1]] = _Served(mime, data)
        page = f"/{token}/"
        served[page] = _Served("text/html; charset=utf-8", _page_of(paths, box))
        with self._server.lock:
            self._server.served = served
        return WavePage(self.origin + page, tuple(self.origin + path for path in paths))

    def mark(self) -> str:
        """Give a new URL that a tab can be sent to without leaving its page: it is answered by 204, no content."""
        return f"{self.origin}{self._server.marks}{secrets.token_urlsafe(9)}"

    def fetches(self, url: str) -> Fetches:
        """Say how often one of the images that are shown now was fetched.

        Raises:
            KeyError: It is none of them.
        """
        with self._server.lock:
            served = self._server.served[url.removeprefix(self.origin)]
            return Fetches(served.page, served.extension)

    def close(self) -> None:
        """Stop serving, close every connection and wait for the threads; once is enough, twice does no harm."""
        if not self._thread.is_alive():
            return
        self._server.shutdown()
        self._thread.join()
        with self._server.lock:
            self._server.served = {}
            self._server.closing = True
            for connection in self._server.connections:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        self._server.server_close()


def _page_of(paths: Sequence[str], box: int) -> bytes:
    figures = "".join(
        f'<figure><img data-place="{place}" src="{escape(path)}" alt="image {place}"></figure>'
        for place, path in enumerate(paths)
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>wave</title>'
        '<link rel="icon" href="data:,"><style>body{margin:8px;display:flex;flex-wrap:wrap;gap:8px;background:#fff}'
        f"figure{{margin:0;width:{box}px;height:{box}px}}"
        "img{display:block;width:100%;height:100%;object-fit:contain}</style></head>"
        f"<body>{figures}</body></html>"
    ).encode()
