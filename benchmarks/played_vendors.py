"""Plays GPTZero, Originality.ai and Copyleaks on this machine, over HTTPS, as their documentation has them.

    pip install 'pytest-benchbench[remote]' trustme
    python benchmarks/played_vendors.py --output-dir played

writes ``played/ca.pem`` and serves until it is interrupted; it prints what to give to ``--bench-adapter``. With a command
behind ``--`` it serves for as long as that command runs, which finds the address in ``$PLAYED_VENDORS`` and, in place of
real keys, keys that only this server takes. Nothing is sent anywhere. The scores are drawn from the texts' digests: they
show that everything works and say nothing about any text, and nothing about the vendors. The tests of this package ask the
same server, with faults put in where they want some.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import ssl
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import trustme

GPTZERO_PATH = "/v2/predict/text"
ORIGINALITY_PATH = "/api/v3/scan"
LOGIN_PATH = "/v3/account/login/api"
COPYLEAKS_PATH = re.compile(r"/v2/writer-detector/(?P<scan_id>[a-z0-9!@$^&\-+%=_(){}<>';:/.,~`|]{3,36})/check")

GPTZERO_VERSION = "2025-10-30-base"
ORIGINALITY_MODELS = ("lite", "lite-102", "turbo", "academic", "multilang")
FALLBACK_MODEL = "lite-102"
COPYLEAKS_MODEL = "v9.0"
LOGINS = 12
KEYS = {
    "GPTZERO_API_KEY": "played-gptzero",
    "ORIGINALITY_API_KEY": "played-originality",
    "COPYLEAKS_API_KEY": "played-copyleaks",
    "COPYLEAKS_EMAIL": "somebody@played.example",
}
LOGIN_SECONDS = 900


@dataclass
class Asked:
    """What a client sent.

    Attributes:
        path: Of the address.
        headers: By lower-case names.
        document: The JSON of the body.
    """

    path: str
    headers: dict[str, str]
    document: dict[str, Any]


@dataclass
class Act:
    """An answer, right or wrong.

    Attributes:
        status: The HTTP status.
        body: A JSON document, or bytes that are sent as they are.
        headers: Further headers.
        content_type: Of the body.
        length: What ``Content-Length`` says, if it is not the truth.
        manner: ``whole``: at once. ``silent``: never anything. ``dripping``: byte after byte, without an end. ``cut``: the
            connection is closed at half of the body.
    """

    status: int = 200
    body: Any = b""
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    length: int | None = None
    manner: str = "whole"

    @property
    def content(self) -> bytes:
        """The bytes of the body."""
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


def fraction_of(text: str) -> float:
    """Draw a number in [0, 1) from a text's digest."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) / 2**32


def refusal(status: int, message: str, **headers: str) -> Act:
    """Refuse in the vendor's name; no vendor documents the shape of its refusals."""
    return Act(status, {"error": message}, dict(headers))


def guard_refusal() -> Act:
    """Refuse as what stands before a vendor does: a page for people."""
    return Act(403, b"<html><title>Attention Required! | Cloudflare</title></html>", content_type="text/html")


class PlayedVendors:
    """The three vendors at one address.

    Args:
        directory: Where ``ca.pem`` is put, the certificate to trust.
        port: To listen on; 0 for any that is free.

    Attributes:
        url: For ``base_url=``.
        ca_file: For ``ca_file=``.
        asked: What was asked, in order; logins too.
    """

    def __init__(self, directory: Path, port: int = 0) -> None:
        authority = trustme.CA()
        self.ca_file = directory / "ca.pem"
        authority.cert_pem.write_to_path(self.ca_file)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("127.0.0.1", "localhost").configure_cert(context)
        self.ended = threading.Event()
        self._lock = threading.Lock()
        self.reset()
        self._server = _Server(("127.0.0.1", port), self, context)
        self.url = f"https://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def reset(self) -> None:
        """Forget everything that was asked and is to be played."""
        self.asked: list[Asked] = []
        self.script: deque[Act | Callable[[Act], Act]] = deque()
        self.tokens: set[str] = set()
        self.logins: deque[float] = deque(maxlen=LOGINS)
        self.scans: set[str] = set()

    def play(self, acts: Iterable[Act | Callable[[Act], Act]]) -> None:
        """Put acts in place of the next answers (logins excepted): an act, or what makes one of the documented answer."""
        self.script.extend(acts)

    def close(self) -> None:
        """End all connections and the server."""
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, asked: Asked) -> Act:
        """Give the next act of the script, or the documented answer."""
        with self._lock:
            self.asked.append(asked)
            if asked.headers.get("user-agent", "python-").lower().startswith("python"):
                return guard_refusal()
            if asked.path == LOGIN_PATH:
                return self._log_in(asked)
            act = self._documented(asked)
            if not self.script:
                return act
            played = self.script.popleft()
            return played if isinstance(played, Act) else played(act)

    def _documented(self, asked: Asked) -> Act:
        if asked.path == GPTZERO_PATH:
            return gptzero(asked)
        if asked.path == ORIGINALITY_PATH:
            return originality(asked)
        if (match := COPYLEAKS_PATH.fullmatch(asked.path)) is not None:
            return self._copyleaks(asked, match["scan_id"])
        return refusal(404, "not found")

    def _log_in(self, asked: Asked) -> Act:
        now = time.monotonic()
        if len(self.logins) == LOGINS and now - self.logins[0] < LOGIN_SECONDS:
            return refusal(429, "too many logins", **{"Retry-After": f"{LOGIN_SECONDS - (now - self.logins[0]):.0f}"})
        self.logins.append(now)
        if not asked.document.get("email") or not asked.document.get("key"):
            return refusal(401, "invalid credentials")
        token = f"played-token-{len(self.tokens) + 1}-{hashlib.sha256(asked.document['key'].encode()).hexdigest()[:16]}"
        self.tokens.add(token)
        issued, expires = "2026-11-29T00:00:00.0000000Z", "2026-12-01T00:00:00.0000000Z"
        return Act(body={"access_token": token, ".issued": issued, ".expires": expires})

    def _copyleaks(self, asked: Asked, scan_id: str) -> Act:
        text = asked.document.get("text", "")
        if asked.headers.get("authorization", "").removeprefix("Bearer ") not in self.tokens:
            return refusal(401, "token is not valid")
        if not 255 <= len(text) <= 100_000:
            return refusal(400, "text length is not supported")
        if scan_id in self.scans:
            return refusal(409, "a scan of this id exists")
        self.scans.add(scan_id)
        words, ai = len(text.split()), fraction_of(text)
        section = {"classification": 2 if ai >= 0.5 else 1, "probability": max(ai, 1 - ai)}
        matches = [
            {"text": {"chars": {"starts": [0], "lengths": [len(text)]}, "words": {"starts": [0], "lengths": [words]}}}
        ]
        credits_used = 0 if asked.document.get("sandbox") else -(-words // 250)
        return Act(
            body={
                "modelVersion": COPYLEAKS_MODEL,
                "results": [{**section, "matches": matches}],
                "summary": {"human": 1 - ai, "ai": ai},
                "scannedDocument": {
                    "scanId": scan_id,
                    "totalWords": words,
                    "totalExcluded": 0,
                    "actualCredits": credits_used,
                    "expectedCredits": credits_used,
                    "creationTime": "2026-11-29T00:00:00Z",
                },
            }
        )


def gptzero(asked: Asked) -> Act:
    """Answer as GPTZero's interface v2."""
    text = asked.document.get("document", "")
    if not asked.headers.get("x-api-key"):
        return refusal(401, "no key")
    if not 1 <= len(text) <= 50_000:
        return refusal(400, "document length is not supported")
    ai = fraction_of(text)
    mixed = (1 - ai) * fraction_of(f"mixed {text}")
    probabilities = {"ai": ai, "mixed": mixed, "human": 1 - ai - mixed}
    predicted = max(probabilities, key=lambda name: probabilities[name])
    return Act(
        body={
            "version": asked.document.get("version") or GPTZERO_VERSION,
            "scanId": f"played-{hashlib.sha256(text.encode()).hexdigest()[:12]}",
            "documents": [
                {
                    "class_probabilities": probabilities,
                    "predicted_class": predicted,
                    "completely_generated_prob": ai * ai,
                    "average_generated_prob": ai,
                    "confidence_category": "high" if max(probabilities.values()) > 0.8 else "low",
                    "confidence_score": max(probabilities.values()),
                    "document_classification": {"ai": "AI_ONLY", "mixed": "MIXED", "human": "HUMAN_ONLY"}[predicted],
                    "overall_burstiness": 12.5,
                    "result_message": "This is a played answer.",
                    "paragraphs": [{"start_sentence_index": 0, "num_sentences": 1, "completely_generated_prob": ai}],
                    "sentences": [{"sentence": text, "generated_prob": ai, "perplexity": 30}],
                }
            ],
        }
    )


def originality(asked: Asked) -> Act:
    """Answer as Originality.ai's interface v3: a model that it does not know is silently another one."""
    text = asked.document.get("content", "")
    if not asked.headers.get("x-oai-api-key"):
        return refusal(401, "no key")
    if len(text.split()) < 50:
        return refusal(422, "at least 50 words are needed")
    wanted = asked.document.get("aiModelVersion")
    ai = fraction_of(text)
    return Act(
        body={
            "results": {
                "properties": {"id": 4711, "privateID": 4711, "title": asked.document.get("title"), "content": text},
                "ai": {
                    "aiModel": wanted if wanted in ORIGINALITY_MODELS else FALLBACK_MODEL,
                    "classification": {"AI": int(ai >= 0.5), "Original": int(ai < 0.5)},
                    "confidence": {"AI": ai, "Original": 1 - ai},
                    "blocks": [{"text": text, "result": {"fake": ai, "real": 1 - ai, "status": "success"}}],
                },
                "credits": {"used": -(-len(text.split()) // 100)},
            }
        }
    )


class _Server(ThreadingHTTPServer):
    """One thread for each connection; TLS is agreed on there too."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], vendors: PlayedVendors, context: ssl.SSLContext) -> None:
        super().__init__(address, _Handler)
        self.vendors = vendors
        self._context = context

    def get_request(self) -> tuple[Any, Any]:
        connection, address = super().get_request()
        return self._context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False), address

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients that go away are part of the play."""


class _Handler(BaseHTTPRequestHandler):
    """Takes one connection's questions."""

    protocol_version = "HTTP/1.1"
    timeout = 60
    server: _Server

    def log_message(self, *_: Any) -> None:
        """Keep the terminal quiet."""

    def do_POST(self) -> None:
        """Answer one question."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        act = self.server.vendors.answer(Asked(self.path, headers, json.loads(body)))
        content = act.content
        lines = {
            "Content-Type": act.content_type,
            "Content-Length": str(len(content) if act.length is None else act.length),
            **act.headers,
        }
        try:
            phrase = HTTPStatus(act.status).phrase
        except ValueError:
            phrase = "Unknown"
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value)
        whole = f"HTTP/1.1 {act.status} {phrase}\r\n{head}\r\n".encode() + content
        if act.manner == "whole":
            self.wfile.write(whole)
        elif act.manner == "cut":
            self.wfile.write(whole[: -(len(content) // 2 + 1)])
        elif act.manner == "dripping":
            for start in range(len(whole)):
                self.wfile.write(whole[start : start + 1])
                if self.server.vendors.ended.wait(0.02):
                    break
        else:
            self.server.vendors.ended.wait(60)
        self.close_connection = self.close_connection or act.manner != "whole" or act.length is not None


def main() -> None:
    """Serve until interrupted, or while a command runs."""
    parser = argparse.ArgumentParser(description="Play three vendors of AI-text detectors on this machine.")
    parser.add_argument("--output-dir", type=Path, required=True, help="where ca.pem is put")
    parser.add_argument("--port", type=int, default=0, help="to listen on; any free one by default")
    parser.add_argument("command", nargs="*", help="a command to serve, behind --")
    arguments = parser.parse_args()
    arguments.output_dir.mkdir(parents=True, exist_ok=True)
    vendors = PlayedVendors(arguments.output_dir, arguments.port)
    if arguments.command:
        try:
            ended = subprocess.run(arguments.command, env=os.environ | KEYS | {"PLAYED_VENDORS": vendors.url})
        finally:
            vendors.close()
        sys.exit(ended.returncode)
    where = f"base_url={vendors.url},ca_file={vendors.ca_file}"
    print("Played vendors: scores are drawn from digests and say nothing. Any key of 8 characters is taken. Ctrl-C ends.")
    for vendor in (f"gptzero:version={GPTZERO_VERSION}", f"originality:model={FALLBACK_MODEL}", "copyleaks:plan=played"):
        print(f"--bench-adapter={vendor},{where}", flush=True)
    try:
        vendors.ended.wait()
    except KeyboardInterrupt:
        vendors.close()


if __name__ == "__main__":
    main()
