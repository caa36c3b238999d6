"""The page that shows a server's models."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.serving.servers import Served


def test_the_page_needs_nothing_from_elsewhere(served: Served) -> None:
    status, content, headers = served.raw("/")
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "default-src 'self'" in headers["content-security-policy"]
    text = content.decode()
    assert not re.search(r"(src|href)\s*=|https?://|@import", text)
    assert served.rest("/other")[0] == 404


def test_data(served: Served) -> None:
    served.rest("/v1/models/half:predict", {"inputs": [1]})
    served.rest("/v1/models/half:predict", {"inputs": ["x"]})
    _, data = served.rest("/status/data")
    assert data["ready"]
    assert data["resident_mb"] > 1
    found = {model["name"]: model for model in data["models"]}
    assert set(found) == {"half", "dtypes", "moody"}
    half = found["half"]
    assert half["failed"] >= 1
    assert float(half["rate"]) > 0
    assert float(half["p99"]) >= float(half["p50"]) > 0
    assert [(v["version"], v["state"], v["labels"]) for v in half["versions"]] == [
        (2, "AVAILABLE", ["canary"]),
        (1, "AVAILABLE", ["stable"]),
    ]
    assert served.rest("/status/other")[0] == 404
