"""Specs of AccumulatorApplyGradient, AccumulatorNumAccumulated, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec
from tests.peer.ops.specs.shared.floats import FLOATS

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


# --- accumulators -----------------------------------------------------------------


def accumulator(d: Draw) -> Program:
    p = Program(differentiate=False)
    form = "Resource" if d.op.startswith("Resource") else ""
    shape = d.shape(0, 2)
    kind = d.choice(["MEAN", "SUM"])
    a = p.op(
        f"{form}ConditionalAccumulator", dtype=d.dtype, shape=shape, reduction_type=kind
    )
    for step in (0, 1):
        p.run(
            p.op(
                f"{form}AccumulatorApplyGradient",
                a,
                np.int64(step),
                p.feed(d.array(shape)),
            )
        )
    p.run(p.op(f"{form}AccumulatorNumAccumulated", a))
    p.run(p.op(f"{form}AccumulatorTakeGradient", a, np.int32(2), dtype=d.dtype))
    p.run(
        p.op(f"{form}AccumulatorApplyGradient", a, np.int64(0), p.feed(d.array(shape)))
    )
    p.run(p.op(f"{form}AccumulatorNumAccumulated", a))
    p.run(p.op(f"{form}AccumulatorSetGlobalStep", a, np.int64(5)))
    return p


_ACCUMULATOR = "ConditionalAccumulator AccumulatorApplyGradient AccumulatorTakeGradient AccumulatorNumAccumulated AccumulatorSetGlobalStep"


spec(_ACCUMULATOR, accumulator, attr="dtype", types=FLOATS, gradient=False, mutate=())


spec(
    " ".join("Resource" + op for op in _ACCUMULATOR.split()),
    accumulator,
    attr="dtype",
    types=FLOATS,
    gradient=False,
    mutate=(),
)


def sparse_accumulator(d: Draw) -> Program:
    p = Program(differentiate=False)
    known = d.maybe()
    a = p.op(
        "SparseConditionalAccumulator",
        dtype=d.dtype,
        shape=(6, 2) if known else None,
        reduction_type=d.choice(["MEAN", "SUM"]),
    )
    for _ in range(2):
        ids = np.unique(d.indices((3,), 6)).astype(np.int64)
        rows = p.feed(d.array((len(ids), 2)))
        add = p.op(
            "SparseAccumulatorApplyGradient",
            a,
            np.int64(0),
            ids,
            rows,
            np.array([6, 2], np.int64),
            has_known_shape=True,
        )
        p.run(add)
    p.run(p.op("SparseAccumulatorTakeGradient", a, np.int32(2), dtype=d.dtype))
    return p


spec(
    "SparseConditionalAccumulator SparseAccumulatorApplyGradient SparseAccumulatorTakeGradient",
    sparse_accumulator,
    attr="dtype",
    types=FLOATS,
    gradient=False,
    mutate=(),
)


# --- barriers and staging areas -----------------------------------------------------


def barrier(d: Draw) -> Program:
    p = Program(differentiate=False)
    b = p.op("Barrier", component_types=["float32", "int32"], shapes=[(2,), ()])
    names = np.array([b"a", b"b", b"c"], object)
    p.run(
        p.op(
            "BarrierInsertMany",
            b,
            names,
            p.feed(d.array((3, 2), dtype="float32")),
            component_index=0,
        )
    )
    p.run(
        p.op(
            "BarrierInsertMany",
            b,
            names[1:],
            np.array([1, 2], np.int32),
            component_index=1,
        )
    )
    p.run(p.op("BarrierReadySize", b))
    p.run(p.op("BarrierIncompleteSize", b))
    p.run(p.op("BarrierTakeMany", b, np.int32(2), component_types=["float32", "int32"]))
    p.run(p.op("BarrierClose", b))
    return p


spec(
    "Barrier BarrierInsertMany BarrierTakeMany BarrierReadySize BarrierIncompleteSize BarrierClose",
    barrier,
    types=(),
    gradient=False,
    mutate=(),
)


def stage(d: Draw) -> Program:
    p = Program(differentiate=False)
    types: dict[str, Any] = {
        "dtypes": ["float32", "int32"],
        "shared_name": f"stage{d.example}",
    }
    for i in range(2):
        p.run(
            p.op(
                "Stage", [p.feed(d.array((2,), dtype="float32")), np.int32(i)], **types
            )
        )
    p.run(p.op("StageSize", **types))
    p.run(p.op("StagePeek", np.int32(1), **types))
    p.run(p.op("Unstage", **types))
    p.run(p.op("StageClear", **types))
    p.run(p.op("StageSize", **types))
    return p


spec(
    "Stage Unstage StagePeek StageSize StageClear",
    stage,
    types=(),
    gradient=False,
    mutate=(),
)


def staging_map(d: Draw) -> Program:
    p = Program(differentiate=False)
    kind = "OrderedMap" if d.op.startswith("Ordered") else "Map"
    types: dict[str, Any] = {
        "dtypes": ["float32", "int32"],
        "shared_name": f"map{kind}{d.example}",
    }
    both = np.array([0, 1], np.int32)
    for key in (5, 2):
        values = [p.feed(d.array((2,), dtype="float32")), np.int32(key)]
        p.run(p.op(f"{kind}Stage", np.int64(key), both, values, **types))
    p.run(
        p.op(f"{kind}Stage", np.int64(9), both[:1], [np.ones(2, np.float32)], **types)
    )
    p.run(p.op(f"{kind}Size", **types))
    p.run(p.op(f"{kind}IncompleteSize", **types))
    p.run(p.op(f"{kind}Peek", np.int64(2), both, **types))
    p.run(p.op(f"{kind}Unstage", np.int64(5), both, **types))
    p.run(p.op(f"{kind}UnstageNoKey", both, **types))
    p.run(p.op(f"{kind}Clear", **types))
    return p


for _kind in ("Map", "OrderedMap"):
    spec(
        " ".join(
            _kind + op
            for op in (
                "Stage",
                "Unstage",
                "UnstageNoKey",
                "Peek",
                "Size",
                "IncompleteSize",
                "Clear",
            )
        ),
        staging_map,
        types=(),
        gradient=False,
        mutate=(),
    )
