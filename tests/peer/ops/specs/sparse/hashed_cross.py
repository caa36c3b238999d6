"""Specs of SparseCrossHashed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.draw import K
from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def _spec(op: str, make: Any, **options: Any) -> None:
    common: dict[str, Any] = {"types": (), "gradient": False, "mutate": ()}
    spec(op, make, **{**common, **options})


def _hashed(d: Draw, buckets: int | None = None, **more: Any) -> Any:
    rows = 3
    count = d.integer(0, 2)
    places = [np.argwhere(d.rng.random((rows, 2)) < 0.6) for _ in range(count)]
    values = [d.array((len(one),), d.choice(["int64", "string"])) for one in places]
    shapes = [np.array([rows, 2], np.int64) for _ in places]
    dense = [d.array((rows, 2), d.choice(["int64", "string"]))]
    if d.maybe() or not count:
        dense.append(d.array((rows, 1), "int64"))
    settings = [
        K(d.choice([0, 100]) if buckets is None else buckets, "int64"),
        K(d.maybe(), "bool"),
        K([d.integer(0, 99), 7], "int64"),
    ]
    return call(places, values, shapes, dense, *settings, **{"N": count, **more})


_spec("SparseCrossHashed", _hashed, bad=(lambda d: _hashed(d, -1),))
