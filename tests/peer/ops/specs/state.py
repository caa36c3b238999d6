"""Variables, scatters into them, optimizer updates, temporary variables, counters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops import program as programs
from tests.peer.ops.process_count import process_count
from tests.peer.ops.program import Node, Program, Ref
from tests.peer.ops.spec import Tolerance, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw

Q = ["qint8", "quint8", "qint32"]
# Cases share a session, in which a variable is known by its name.
NUMBERS = process_count()
UPDATES = Tolerance(2e-5, 2e-6, "steps are computed in another order", widened=4)


def ref_variable(p: Program, value: Any) -> tuple[Ref, Node]:
    """A reference variable and the node that gives it a value."""
    leaf = p.feed(value)
    shape = p.leaves[-1].value.shape
    variable = p.op("VariableV2", dtype=leaf.dtype, shape=shape)
    return variable[0], p.op("Assign", variable, leaf)


def resource_variable(p: Program, value: Any) -> tuple[Ref, Node]:
    """A resource variable and the node that gives it a value."""
    leaf = p.feed(value)
    shape = p.leaves[-1].value.shape
    handle = p.op(
        "VarHandleOp", dtype=leaf.dtype, shape=shape, shared_name=f"v{next(NUMBERS)}"
    )
    return handle[0], p.op("AssignVariableOp", handle, leaf)


def read(p: Program, variable: Ref, dtype: Any, after: Node | None = None) -> Node:
    if variable.dtype.name == "resource":
        return p.op(
            "ReadVariableOp", variable, dtype=dtype, control=[after] if after else []
        )
    return p.op("Identity", variable, control=[after] if after else [])


def updated(d: Draw, values: list[Any], others: list[Any], **attrs: Any) -> Program:
    """An op whose first inputs are variables: initialize, run twice, read all."""
    p = Program(differentiate=False)
    resource = programs.find(d.op).inputs[0].type_attr == ""
    make = resource_variable if resource else ref_variable
    made = [make(p, value) for value in values]
    node = p.op(
        d.op,
        *[variable for variable, _ in made],
        *[as_input(p, one) for one in others],
        **attrs,
    )
    reads = [read(p, variable, d.dtype) for variable, _ in made]
    p.run(*(init for _, init in made))
    p.run(node)
    p.run(*reads)
    p.run(node)
    p.run(*reads)
    return p


def as_input(p: Program, one: Any) -> Any:
    from tests.peer.ops.spec import as_refs

    return as_refs(p, one)


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


def variable(d: Draw) -> Any:
    p = Program(differentiate=False)
    value = d.array(d.shape(empty=0))
    leaf = p.feed(value)
    made = p.op(d.op, dtype=d.dtype, shape=p.leaves[-1].value.shape)
    init = p.op("Assign", made, leaf)
    known = p.op("IsVariableInitialized", made)
    p.run(known)
    p.run(init)
    p.run(known, p.op("Identity", made))
    return p


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


def handle(d: Draw) -> Any:
    p = Program(differentiate=False)
    value = d.array()
    leaf = p.feed(value)
    shape = p.leaves[-1].value.shape
    made = p.op(
        "VarHandleOp", dtype=leaf.dtype, shape=shape, shared_name=f"v{next(NUMBERS)}"
    )
    init = p.op("AssignVariableOp", made, leaf)
    known = p.op("VarIsInitializedOp", made)
    value_read = p.op("ReadVariableOp", made, dtype=leaf.dtype)
    size = p.op("VariableShape", made, out_type=d.choice(["int32", "int64"]))
    gone = p.op("DestroyResourceOp", made)
    p.run(known)
    p.run(init)
    p.run(known, value_read, size)
    p.run(gone)
    p.run(known)
    p.run(value_read)
    return p


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


def strided_assign(d: Draw) -> Any:
    ends = [np.array(v, np.int32) for v in ([1, 0], [3, 3], [1, 2])]
    return updated(d, [d.array((4, 3))], [*ends, d.array((2, 2))])


spec(
    "StridedSliceAssign ResourceStridedSliceAssign",
    strided_assign,
    without=[*Q],
    mutate=("dtype",),
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

# --- optimizers -----------------------------------------------------------------
# How many variables, then which other inputs: s a scalar, g a gradient.

DENSE = {
    "ApplyGradientDescent": (1, "sg", {}),
    "ApplyMomentum": (2, "sgs", {"use_nesterov": None}),
    "ApplyKerasMomentum": (2, "sgs", {"use_nesterov": None}),
    "ApplyAdagrad": (2, "sg", {"update_slots": None}),
    "ApplyAdagradV2": (2, "ssg", {"update_slots": None}),
    "ApplyAdadelta": (3, "sssg", {}),
    "ApplyRMSProp": (3, "ssssg", {}),
    "ApplyCenteredRMSProp": (4, "ssssg", {}),
    "ApplyAdam": (3, "ssssssg", {"use_nesterov": None}),
    "ApplyFtrl": (3, "gssss", {}),
    "ApplyFtrlV2": (3, "gsssss", {}),
    "ApplyAdaMax": (3, "sssssg", {}),
    "ApplyAddSign": (2, "ssssg", {}),
    "ApplyPowerSign": (2, "ssssg", {}),
    "ApplyProximalGradientDescent": (1, "sssg", {}),
    "ApplyProximalAdagrad": (2, "sssg", {}),
}
SPARSE = {
    "SparseApplyMomentum": (2, "sgis", {"use_nesterov": None}),
    "SparseApplyKerasMomentum": (2, "sgis", {"use_nesterov": None}),
    "SparseApplyAdagrad": (2, "sgi", {"update_slots": None}),
    "SparseApplyAdagradV2": (2, "ssgi", {"update_slots": None}),
    "SparseApplyAdadelta": (3, "sssgi", {}),
    "SparseApplyRMSProp": (3, "ssssgi", {}),
    "SparseApplyCenteredRMSProp": (4, "ssssgi", {}),
    "SparseApplyFtrl": (3, "gissss", {}),
    "SparseApplyFtrlV2": (3, "gisssss", {}),
    "SparseApplyProximalAdagrad": (2, "sssgi", {}),
    "SparseApplyProximalGradientDescent": (1, "sssgi", {}),
}
TABLE = {**DENSE, **SPARSE}


def optimizer(d: Draw) -> Any:
    count, inputs, attrs = TABLE[d.op.removeprefix("Resource")]
    sparse = "i" in inputs
    shape = d.shape(1, 2, empty=0)
    ids = np.unique(d.indices((2,), shape[0])) if sparse else None
    values = [d.array(shape, low=0.5, high=2) for _ in range(count)]
    others: list[Any] = []
    for letter in inputs:
        if letter == "s":
            others.append(
                d.array((), low=0.05, high=0.9)
                if "Ftrl" not in d.op
                else ftrl(d, len(others))
            )
        elif letter == "g":
            others.append(d.array((len(ids), *shape[1:]) if ids is not None else shape))
        else:
            others.append(ids)
    chosen = {key: d.maybe() for key in attrs}
    return updated(d, values, others, **chosen)


def ftrl(d: Draw, position: int) -> Any:
    """Learning rate, regularization, and a negative power."""
    last = "V2" in d.op
    total = len(TABLE[d.op.removeprefix("Resource")][1])
    if position == total - 1:
        return np.asarray(-0.5, d.dtype.np_dtype)
    del last
    return d.array((), low=0.05, high=0.5)


def defined(prefix: str) -> str:
    return " ".join(
        prefix + name for name in TABLE if programs.op_registry.find(prefix + name)
    )


spec(defined(""), optimizer, tolerance=UPDATES, mutate=("dtype",))
spec(defined("Resource"), optimizer, tolerance=UPDATES, mutate=("dtype",))
