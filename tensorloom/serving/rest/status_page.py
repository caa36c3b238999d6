"""The status page: the models, how they do, and a form to try a signature.

GET /               the page, in one file
GET /status/data    what it shows, as JSON
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.serving.manager import memory
from tensorloom.serving.rest.answers import Answer

if TYPE_CHECKING:
    from tensorloom.serving.calls.model_api import ModelApi
    from tensorloom.serving.observe.observer import Call

_PAGE: Final = Path(__file__).parent / "page" / "status.html"
# Nothing of another origin is loaded, and no other page shows this one.
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'self'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}
_RECENT_S: Final = 60.0


class StatusPage:
    """The handlers of both paths."""

    def __init__(self, api: ModelApi) -> None:
        self._api, self._core = api, api.core
        self._started = time.monotonic()

    def page(self, method: str, path: str, body: bytes, call: Call) -> Answer:
        """The page itself, which tells nothing."""
        if path != "/":
            return Answer(b"", 404, "text/plain")
        return Answer(_PAGE.read_bytes(), 200, "text/html; charset=utf-8", _HEADERS)

    def data(self, method: str, path: str, body: bytes, call: Call) -> Answer:
        """What the page shows."""
        if path != "/status/data":
            return Answer(b"", 404, "text/plain")
        found = {
            "ready": self._core.is_ready,
            "resident_mb": memory.resident_bytes() >> 20,
            "up": _duration(time.monotonic() - self._started),
            "models": [self._model(name) for name in sorted(self._core.configs)],
        }
        return Answer(json.dumps(found).encode())

    def _model(self, name: str) -> dict[str, Any]:
        available = self._core.manager.available().get(name, [])
        recent = self._api.observer.recent(name, _RECENT_S)
        seconds = [took for took, code in recent if not code]
        found: dict[str, Any] = {
            "name": name,
            "rate": f"{len(recent) / _RECENT_S:.2f}",
            "failed": sum(1 for _, code in recent if code),
            "running": sum(s.holders for s in available) if available else None,
            "queued": sum(s.waiting() for s in available),
            "versions": self._versions(name),
        }
        if seconds:
            p50, p99 = np.quantile(seconds, (0.5, 0.99)) * 1e3
            found.update(p50=f"{p50:.1f}", p99=f"{p99:.1f}")
        return found

    def _versions(self, name: str) -> list[dict[str, Any]]:
        manager = self._core.manager
        labels = self._core.labels.get(name, {})
        return [
            {
                "version": version,
                "state": entry.state.name,
                "error": entry.error_message,
                "labels": sorted(n for n, v in labels.items() if v == version),
                "mb": manager.budget.size_of(name, version) >> 20,
            }
            for version, entry in list(manager.states.versions(name).items())[:5]
        ]


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
