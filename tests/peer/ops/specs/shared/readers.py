"""Parts of specs that several families use: alone_spec."""

from __future__ import annotations

from typing import Any

from tests.peer.ops.spec import spec


def alone_spec(ops: str, make: Any, **options: Any) -> None:
    common: dict[str, Any] = {"types": (), "gradient": False, "mutate": ()}
    spec(ops, make, alone=True, **{**common, **options})
