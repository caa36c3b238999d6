"""The HTTP server of the live page: read-only, on loopback, behind a token.

    GET /        the page
    GET /state   the last state, as JSON
    GET /events  each new state, as server-sent events

The token comes as `?token=`, or as `Authorization: Bearer`.
"""

from __future__ import annotations

import hmac
import json
import secrets
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, urlsplit

from tensorloom.inspect.explain.html_page import asset

if TYPE_CHECKING:
    from tensorloom.inspect.live.watcher import Watcher

_SIGN_OF_LIFE_S: Final = 10.0
_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "connect-src 'self'"
)


class Dashboard:
    """Serves the page until it is closed."""

    def __init__(
        self,
        watcher: Watcher,
        port: int,
        host: str = "127.0.0.1",
        token: str | None = None,
    ) -> None:
        """Listens; `start` begins to answer.

        Args:
          watcher: gives the states; it is started and closed with the server.
          port: 0 for a free one.
          host: the address to listen at.
          token: who does not know it gets nothing; one is made if it is None.

        Raises:
          OSError: it cannot listen there.
        """
        self.token = secrets.token_urlsafe(16) if token is None else token
        self._watcher = watcher
        handler = type("_Handler", (_Handler,), {"dashboard": self})
        self._server = ThreadingHTTPServer((host, port), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, name="tensorloom-page", daemon=True
        )

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """The address of the page, with the token."""
        host = str(self._server.server_address[0])
        shown = f"[{host}]" if ":" in host else host
        return f"http://{shown}:{self.port}/?token={self.token}"

    def start(self) -> None:
        """Begins to ask the tasks, and to answer."""
        self._watcher.start()
        self._thread.start()

    def close(self) -> None:
        """Ends it."""
        self._watcher.close()
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()

    def knows(self, token: str) -> bool:
        """Whether it is the token."""
        return hmac.compare_digest(token.encode(), self.token.encode())

    @property
    def watcher(self) -> Watcher:
        """Who asks the tasks."""
        return self._watcher


class _Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    dashboard: Dashboard
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answers the three paths; anything else is not there."""
        parts = urlsplit(self.path)
        given = parse_qs(parts.query).get("token", [""])[0]
        header = self.headers.get("Authorization", "")
        given = given or header.removeprefix("Bearer ")
        if not self.dashboard.knows(given):
            self._send(HTTPStatus.FORBIDDEN, "text/plain", b"The token is missing.\n")
        elif parts.path == "/":
            self._send(HTTPStatus.OK, "text/html; charset=utf-8", page().encode())
        elif parts.path == "/state":
            state = self.dashboard.watcher.state_after(0, _SIGN_OF_LIFE_S)
            self._send(HTTPStatus.OK, "application/json", json.dumps(state).encode())
        elif parts.path == "/events":
            self._send_events()
        else:
            self._send(HTTPStatus.NOT_FOUND, "text/plain", b"There is no such page.\n")

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self._begin(status, kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _begin(self, status: HTTPStatus, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")

    def _send_events(self) -> None:
        """Sends states until the reader is gone, or the server is closed."""
        self.close_connection = True
        self._begin(HTTPStatus.OK, "text/event-stream")
        self.end_headers()
        watcher, number = self.dashboard.watcher, 0
        try:
            while not watcher.is_closed:
                state = watcher.state_after(number, _SIGN_OF_LIFE_S)
                if state["number"] > number:
                    number = state["number"]
                    self.wfile.write(f"data: {json.dumps(state)}\n\n".encode())
                else:
                    self.wfile.write(b": still here\n\n")
                self.wfile.flush()
        except OSError:
            return  # the reader is gone

    def log_message(self, format: str, *arguments: Any) -> None:
        """Logs nothing: a line would have the token."""


def page() -> str:
    """The page, in one file."""
    folder = resources.files("tensorloom.inspect.live") / "page"
    text = (folder / "live.html").read_text(encoding="utf-8")
    script = (folder / "live.js").read_text(encoding="utf-8")
    style = (folder / "live.css").read_text(encoding="utf-8")
    for name, part in {
        "STYLE": asset("page.css") + style,
        "SCRIPT": script,
    }.items():
        text = text.replace(f"@@{name}@@", part)
    return text
