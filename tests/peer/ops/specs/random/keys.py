"""Specs of RandomIndexShuffle, RngReadAndSkip, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.program import Program
from tests.peer.ops.spec import Tolerance, call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


_BEFORE_REMOVAL = 28


_INTEGERS = ("int32", "uint32", "int64", "uint64")


def _shuffled(d: Draw) -> Any:
    kind, limit = d.dtype.np_dtype, d.choice([1, 7, 100, 12345])
    seed_type = np.dtype(d.choice(_INTEGERS))
    outer = (d.integer(1, 4),) if d.maybe() else ()
    last = d.rng.integers(0, limit, outer if d.maybe() else ())
    index = np.minimum(d.rng.integers(0, limit, outer), last)
    seed = d.rng.integers(0, 1 << 30, (*(outer if d.maybe() else ()), 3))
    return call(
        index.astype(kind),
        seed.astype(seed_type),
        np.asarray(last, kind),
        rounds=d.choice([4, 8]),
    )


def _shuffle_of(index: Any, last: Any, seed: Any = (1, 2, 3), **attrs: Any) -> Any:
    def make(d: Draw) -> Any:
        kind = d.dtype.np_dtype
        return call(
            np.array(index, kind),
            np.array(seed, np.int32),
            np.array(last, kind),
            **attrs,
        )

    return make


spec(
    "RandomIndexShuffle",
    _shuffled,
    attr="dtype",
    gradient=False,
    bad=(
        _shuffle_of(9, 5),
        _shuffle_of([1, 2], [5, 5, 5]),
        _shuffle_of(1, 5, seed=(1, 2)),
        _shuffle_of([[1]], 5),
        _shuffle_of([1, 2], 5, seed=[[1, 2, 3]] * 3),
    ),
)


spec(
    "StatelessRandomGetKeyCounter StatelessRandomGetKeyCounterAlg",
    lambda d: (d.array((2,), low=-(1 << 30), high=1 << 30),),
    attr="Tseed",
    gradient=False,
)


def _state(d: Draw, p: Program, size: int = 3, dtype: str = "int64") -> Any:
    v = p.op("VarHandleOp", dtype=dtype, shape=(size,), shared_name="")
    values = d.rng.integers(-1000, 1000, size).astype(dtype)
    p.run(p.op("AssignVariableOp", v, p.const(values, dtype)))
    return v


def _skipped(
    d: Draw, algorithm: int = 1, size: int = 3, dtype: str = "int64"
) -> Program:
    p = Program(differentiate=False)
    v = _state(d, p, size, dtype)
    step = np.array(d.integer(0, 1 << 40), np.uint64)
    move = p.op(d.op, v, np.int32(algorithm), step)
    p.run(move)
    p.run(p.op("ReadVariableOp", v, dtype=dtype))
    p.run(move)
    return p


spec(
    "RngReadAndSkip",
    _skipped,
    types=(),
    gradient=False,
    mutate=("dtype", "rank"),
    bad=(
        lambda d: _skipped(d, 7),
        lambda d: _skipped(d, 2),
        lambda d: _skipped(d, 1, 2),
    ),
)


def _old_normal(d: Draw) -> Program:
    """The first version keeps its algorithm as the first number of the state."""
    p = Program(_BEFORE_REMOVAL, differentiate=False)
    v = p.op("VarHandleOp", dtype="int64", shape=(4,), shared_name="")
    state = np.array([1, *d.rng.integers(-1000, 1000, 3)], np.int64)
    p.run(p.op("AssignVariableOp", v, p.const(state)))
    shape = p.feed(np.array([d.integer(0, 5), 3], np.int64), const=True)
    drawn = p.op(d.op, v, shape, dtype=d.dtype)
    p.run(drawn)
    p.run(drawn)
    p.run(p.op("ReadVariableOp", v, dtype="int64"))
    return p


spec(
    "StatefulStandardNormal",
    _old_normal,
    attr="dtype",
    types=["float32"],
    gradient=False,
    producer=_BEFORE_REMOVAL,
    tolerance=Tolerance(1e-6, 1e-7),
    mutate=("dtype",),
)
