"""Specs of Copy, CopyHost, DebugIdentity, DebugIdentityV2, ...."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.spec import Tolerance, call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


_TYPES = ["float32", "float64", "int32", "int64", "bool", "string", "float16", "uint8"]


_NUMBERS = [one for one in _TYPES if one != "string"]


def _spec(op: str, make: Any, **options: Any) -> None:
    spec(op, make, attr="T", gradient=False, **{"types": _TYPES, **options})


def _named(d: Draw) -> Any:
    return call(d.array(d.shape(0, 3)), tensor_name="x:0")


def _watched(d: Draw, urls: tuple[str, ...] = ()) -> Any:
    return call(d.array(d.shape(0, 3)), tensor_name="x:0", debug_urls=list(urls))


_spec("Copy CopyHost", _named)


_spec("DebugIdentity", _watched)


_spec(
    "DebugIdentityV2",
    lambda d: call(d.array(d.shape(0, 3)), tfdbg_context_id="c", op_name="x"),
)


def _with_nans(d: Draw, chance: float = 0.3) -> Any:
    values = np.asarray(d.array(d.shape(0, 3)))
    if not d.dtype.is_floating:
        return values
    odd = d.rng.choice([np.nan, np.inf, -np.inf], values.shape)
    return np.where(d.rng.random(values.shape) < chance, odd, values).astype(
        values.dtype
    )


_spec(
    "DebugNanCount",
    lambda d: call(_with_nans(d), tensor_name="x:0"),
    types=_NUMBERS,
)


def _summary(d: Draw) -> Any:
    attrs: dict[str, Any] = {"tensor_name": "x:0", "mute_if_healthy": d.maybe(0.3)}
    if d.maybe():
        attrs |= {"lower_bound": -1.0, "upper_bound": 2.0}
    return call(_with_nans(d, d.choice([0.0, 0.3, 1.0])), **attrs)


_spec(
    "DebugNumericSummary",
    _summary,
    types=_NUMBERS,
    tolerance=Tolerance(1e-6, 1e-7, reason="sums in another order"),
)
