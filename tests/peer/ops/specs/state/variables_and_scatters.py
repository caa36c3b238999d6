"""Specs of Assign, AssignAdd, AssignAddVariableOp, AssignSub, ...."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw
from tests.peer.ops.specs.shared.updates import (
    UPDATES,
    Q,
    handle,
    ref_variable,
    resource_variable,
    updated,
    variable,
)


def assign(d: Draw) -> Any:
    shape = d.shape()
    return updated(d, [d.array(shape)], [d.array(shape)])


spec("Assign AssignAdd AssignSub", assign, without=Q)


def assign_resource(d: Draw) -> Any:
    shape = d.shape()
    p = updated(d, [d.array(shape)], [d.array(shape)], dtype=d.dtype)
    return p


spec(
    "AssignVariableOp AssignAddVariableOp AssignSubVariableOp",
    assign_resource,
    attr="dtype",
    without=[*Q],
)


spec("VariableV2", variable, attr="dtype", without=Q)


spec("Variable", variable, attr="dtype", without=Q)


def uninitialized(d: Draw) -> Any:
    p = Program(differentiate=False)
    made = p.op("VariableV2", dtype=d.dtype, shape=(2,))
    p.run(p.op("Identity", made))
    return p


def is_initialized(d: Draw) -> Any:
    return variable_of(d, "VariableV2")


def variable_of(d: Draw, kind: str) -> Any:
    p = Program(differentiate=False)
    leaf = p.feed(d.array((2,)))
    made = p.op(kind, dtype=d.dtype, shape=(2,))
    known = p.op("IsVariableInitialized", made)
    p.run(known)
    p.run(p.op("Assign", made, leaf))
    p.run(known)
    return p


spec(
    "IsVariableInitialized",
    is_initialized,
    attr="dtype",
    types=["float32", "int64", "string"],
    bad=(uninitialized,),
)


spec("VarHandleOp ReadVariableOp", handle, attr="dtype", without=Q)


spec("VarIsInitializedOp VariableShape DestroyResourceOp", handle, types=["float32"])


def count_up_to(d: Draw) -> Any:
    p = Program(differentiate=False)
    value = np.asarray(1, d.dtype.np_dtype)
    resource = d.op.startswith("Resource")
    variable_ref, init = (resource_variable if resource else ref_variable)(p, value)
    count = p.op(d.op, variable_ref, limit=3, T=d.dtype)
    p.run(init)
    for _ in range(3):
        p.run(count)
    return p


spec("CountUpTo ResourceCountUpTo", count_up_to, mutate=("dtype",))


# --- scatters -------------------------------------------------------------------


def scatter(d: Draw) -> Any:
    shape = d.shape(1, 3, empty=0)
    count = d.integer(1, 3)
    ids = d.indices((count,), shape[0])
    if "Update" in d.op:
        ids = np.unique(ids)
    updates = d.array((len(ids), *shape[1:]), low=1, high=4)
    value = d.array(shape, low=-4, high=4)
    attrs = {"dtype": d.dtype} if d.op.startswith("Resource") else {}
    return updated(d, [value], [ids, updates], **attrs)


def scatter_out(d: Draw) -> Any:
    attrs = {"dtype": d.dtype} if d.op.startswith("Resource") else {}
    return updated(
        d, [d.array((3,))], [np.array([3], np.int32), d.array((1,))], **attrs
    )


spec(
    "ScatterAdd ScatterSub ScatterMul ScatterDiv ScatterUpdate ScatterMax ScatterMin",
    scatter,
    without=[*Q, "string"],
    bad=(scatter_out,),
    tolerance=UPDATES,
)


spec(
    "ResourceScatterAdd ResourceScatterSub ResourceScatterMul ResourceScatterDiv "
    "ResourceScatterUpdate"
    " ResourceScatterMax ResourceScatterMin",
    scatter,
    attr="dtype",
    without=Q,
    bad=(scatter_out,),
    tolerance=UPDATES,
    mutate=("integer", "dtype"),
)


def scatter_nd(d: Draw) -> Any:
    shape = d.shape(1, 3, empty=0)
    depth = d.integer(1, len(shape))
    ids = np.stack([d.rng.integers(0, s, (3,)) for s in shape[:depth]], -1).astype(
        d.index_type()
    )
    if "Update" in d.op:
        ids = np.unique(ids, axis=0)
    return updated(d, [d.array(shape)], [ids, d.array((len(ids), *shape[depth:]))])


spec(
    "ScatterNdAdd ScatterNdSub ScatterNdUpdate ScatterNdMax ScatterNdMin",
    scatter_nd,
    without=[*Q],
    mutate=("integer", "dtype"),
)


spec(
    "ResourceScatterNdAdd ResourceScatterNdSub ResourceScatterNdUpdate"
    " ResourceScatterNdMax ResourceScatterNdMin",
    scatter_nd,
    without=[*Q, "bool"],
    mutate=("integer", "dtype"),
)


def gather(d: Draw) -> Any:
    p = Program(differentiate=False)
    shape = d.shape(2, 3, empty=0)
    variable_ref, init = resource_variable(p, d.array(shape))
    if d.op == "ResourceGatherNd":
        ids = np.stack([d.rng.integers(0, s, (3,)) for s in shape[:2]], -1).astype(
            d.index_type()
        )
    else:
        ids = d.indices((2, 2), shape[0])
    found = p.op(d.op, variable_ref, p.feed(ids), dtype=d.dtype)
    p.run(init)
    p.run(found)
    return p


spec(
    "ResourceGather ResourceGatherNd",
    gather,
    attr="dtype",
    without=Q,
    mutate=("integer", "dtype"),
)


def temporary(d: Draw) -> Any:
    p = Program(differentiate=False)
    shape = (2, 3)
    made = p.op(
        "TemporaryVariable", dtype=d.dtype, shape=shape, var_name=f"t{d.example}"
    )
    filled = p.op("Assign", made, p.feed(d.array(shape)))
    p.run(p.op("DestroyTemporaryVariable", filled, var_name=f"t{d.example}"))
    return p


spec(
    "TemporaryVariable DestroyTemporaryVariable",
    temporary,
    types=["float32", "int32"],
    mutate=("dtype",),
)
