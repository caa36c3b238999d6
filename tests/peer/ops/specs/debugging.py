"""Copies and watchers that a debugger puts between nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.program import Program
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


# --- values that a session keeps ----------------------------------------------


def _kept(d: Draw) -> Program:
    """The text of a handle is its session's own, and is used in later steps."""
    p = Program(differentiate=False)
    handle = p.op(d.op, p.feed(d.array(d.shape(0, 2))))
    p.run(handle)
    return p


def _texts(arrays: list[Any]) -> list[Any]:
    return [np.shape(one) for one in arrays]


spec(
    "GetSessionHandle GetSessionHandleV2",
    _kept,
    attr="T",
    types=["float32", "int64", "string", "bool"],
    gradient=False,
    canonical=_texts,
    mutate=("dtype",),
)


def _unknown(d: Draw, text: bytes = b"nothing;x:0;/cpu:0") -> Program:
    p = Program(differentiate=False)
    handle = p.feed(np.array(text, object))
    if d.op == "DeleteSessionTensor":
        used = p.op(d.op, handle)
    else:
        used = p.op(d.op, handle, dtype=d.dtype)
    p.run(used)
    p.run(used)
    return p


spec(
    "GetSessionTensor DeleteSessionTensor",
    _unknown,
    attr="dtype",
    types=["float32", "string"],
    gradient=False,
    bad=(lambda d: _unknown(d, b""), lambda d: _unknown(d, b"no parts")),
)
