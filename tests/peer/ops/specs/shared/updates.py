"""Parts of specs that several families use: Q, UPDATES, handle, ref_variable, resour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.peer.ops import program as programs
from tests.peer.ops.process_count import process_count
from tests.peer.ops.program import Node, Program, Ref
from tests.peer.ops.spec import Tolerance

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
