"""Parts of specs that several families use: alone_spec."""

from __future__ import annotations

from typing import Any

from tests.peer.ops.spec import spec

TYPES = ["float32", "int32", "string", "bool"]


def alone_spec(ops: str, make: Any, **options: Any) -> None:
    common: dict[str, Any] = {"attr": "T", "types": TYPES, "gradient": False}
    spec(ops, make, **{**common, "mutate": (), **options})
