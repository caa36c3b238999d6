"""Random distributions with parameters by batch, and the stateless ones of 2.x."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.peer.ops.draw import Draw, K
from tests.peer.ops.program import Program
from tests.peer.ops.spec import Tolerance, call, spec

_EXACT = Tolerance(1e-6, 1e-7)


_BOUNDS = (
    (0.0, 1.0, -2.0, 2.0),
    (0.0, 1.0, 3.0, np.inf),
    (0.0, 1.0, -0.5, 0.75),
    (1.0, 2.0, -np.inf, -7.0),
    (-1.0, 0.5, -4.0, 3.0),
    (0.0, 1.0, 5.0, 7.0),
)


def _truncated(d: Draw) -> Any:
    kind, batches = d.dtype.np_dtype, d.integer(1, 4)
    if d.maybe():
        values = np.array(_BOUNDS[d.integer(0, len(_BOUNDS) - 1)], kind)
        shape = K([d.integer(1, 20), d.integer(1, 4)], "int32")
    else:
        values = np.array(
            [_BOUNDS[d.integer(0, len(_BOUNDS) - 1)] for _ in range(batches)], kind
        ).T
        shape = K([batches, d.integer(1, 9)], "int32")
    return call(shape, *values, seed=d.integer(1, 99), seed2=d.integer(0, 99))


def _wrong_bounds(d: Draw) -> Any:
    kind = d.dtype.np_dtype.type
    return call(K([2], "int32"), kind(0), kind(1), kind(2), kind(1), seed=1)


spec(
    "ParameterizedTruncatedNormal",
    _truncated,
    attr="dtype",
    tolerance=_EXACT,
    mutate=("dtype",),
    bad=(_wrong_bounds,),
)


def _stateless_truncated(d: Draw) -> Any:
    kind = d.dtype.np_dtype
    rows = [_BOUNDS[d.integer(0, len(_BOUNDS) - 1)] for _ in range(3)]
    values = np.array(rows, kind).T
    seed = d.rng.integers(0, 1000, 2)
    return call(K([d.integer(1, 4), 3], "int32"), seed, *values)


spec(
    "StatelessParameterizedTruncatedNormal",
    _stateless_truncated,
    attr="dtype",
    gradient=False,
    tolerance=_EXACT,
    mutate=("dtype",),
)


def _binomial(d: Draw) -> Program:
    p = Program(differentiate=False)
    v = p.op("VarHandleOp", dtype="int64", shape=(3,), shared_name="")
    p.run(p.op("AssignVariableOp", v, d.rng.integers(-1000, 1000, 3)))
    # The first op that changes a state which a feed made may lose its change there.
    p.run(p.op("RngSkip", v, np.int64(1), np.int64(3)))
    batches = d.integer(1, 3)
    counts = d.rng.integers(0, 60, batches).astype(np.float64)
    chances = d.rng.random(batches)
    shape = p.feed(np.array([batches, d.integer(0, 5)], np.int32), const=True)
    draw = p.op(d.op, v, np.int64(1), shape, counts, chances, dtype=d.dtype)
    p.run(draw)
    p.run(p.op("ReadVariableOp", v, dtype="int64"))
    p.run(draw)
    return p


spec("StatefulRandomBinomial", _binomial, attr="dtype", mutate=("dtype",))


def _stateless_binomial(d: Draw) -> Any:
    counts = d.rng.integers(0, 60, 3).astype(np.float64)
    shape = K([d.integer(0, 5), 3], "int32")
    seed = d.rng.integers(0, 1000, 2)
    return call(shape, seed, counts, d.rng.random(3), dtype=d.dtype)


spec(
    "StatelessRandomBinomial",
    _stateless_binomial,
    attr="dtype",
    gradient=False,
    mutate=("dtype",),
)


def _gamma(d: Draw) -> Any:
    alphas = np.asarray(d.choice([0.5, 1.0, 2.5, 4.0])) * d.array(
        (2,), dtype="float64", low=0.5, high=2
    )
    shape = K([d.integer(0, 4), 2], "int32")
    alphas = alphas.astype(d.dtype.np_dtype)
    if d.op == "StatelessRandomGammaV2":
        return call(shape, d.rng.integers(0, 1000, 2), alphas)
    return call(shape, *_counter(d), alphas)


def _counter(d: Draw) -> tuple[Any, ...]:
    words = d.rng.integers(0, 1 << 62, 3).astype(np.uint64)
    return words[:1], words[1:], np.int32(d.choice([1, 3]))


spec(
    "StatelessRandomGammaV2 StatelessRandomGammaV3",
    _gamma,
    attr="dtype",
    gradient=False,
    mutate=("dtype",),
)


spec(
    "StatelessShuffle",
    lambda d: call(d.array(d.shape(1, 2, size=7)), *_counter(d)),
    gradient=False,
    mutate=("dtype",),
)
