"""Whether the server lives and is ready, for who looks after it.

GET /v1/health/live     200 as long as it answers
GET /v1/health/ready    200 once all models that it started with are available,
                        503 before, and while it stops
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tensorloom.serving.rest.answers import Answer, error_body

if TYPE_CHECKING:
    from tensorloom.serving.manager.server_core import ServerCore
    from tensorloom.serving.observe.observer import Call
    from tensorloom.serving.rest.http_app import Handler


def handler(core: ServerCore) -> Handler:
    """The handler of both paths."""

    def answer(method: str, path: str, body: bytes, call: Call) -> Answer:
        what = path.rpartition("/")[2].lower()
        if what == "live":
            return Answer(json.dumps({"live": True}).encode())
        if what == "ready":
            status = 200 if core.is_ready else 503
            return Answer(json.dumps({"ready": core.is_ready}).encode(), status)
        return Answer(error_body(f"Malformed request: {method} {path}"), 404)

    return answer
