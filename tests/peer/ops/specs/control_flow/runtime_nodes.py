"""Specs of Abort, EagerPyFunc, PyFunc, PyFuncStateless, ...."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.program import Program
from tests.peer.ops.spec import call
from tests.peer.ops.specs.shared.runtime_nodes import alone_spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def _listed(d: Draw) -> Any:
    rows = [d.array((2,)) for _ in range(3)]
    more = {"out_types": [d.dtype] * 3} if d.op == "_ArrayToList" else {}
    return call(rows, **more)


def _to_array(d: Draw) -> Any:
    rows = [d.array((2,)) for _ in range(3)]
    return call(rows, T=d.dtype, N=3)


alone_spec("_ArrayToList", _listed)


alone_spec("_ListToArray", _to_array)


def _switched(d: Draw, index: int | None = None) -> Program:
    p = Program(differentiate=False)
    chosen = d.integer(0, 2) if index is None else index
    parts = p.op(d.op, d.array((2,)), np.int32(chosen), num_outs=3, T=d.dtype)
    p.run(p.op("Merge", [parts[0], parts[1], parts[2]]))
    return p


alone_spec(
    "_SwitchN",
    _switched,
    bad=(lambda d: _switched(d, 7), lambda d: _switched(d, -1)),
)


def _aborted(d: Draw, message: str = "") -> Program:
    """Never in a process that lives on: only where nothing is asked of it."""
    p = Program(differentiate=False)
    p.op(d.op, error_msg=message)
    p.run(p.op("Identity", d.array((2,), "float32")))
    return p


alone_spec("Abort", _aborted, types=())


def _choice(d: Draw) -> Program:
    p = Program(differentiate=False)
    then = p.function(["float32"], lambda f, x: [f.op("AddV2", x, x)], name="then")
    other = p.function(["float32"], lambda f, x: [f.op("Neg", x)], name="other")
    chosen = d.choice([np.array(d.maybe()), np.int32(d.integer(0, 1)), np.float32(0)])
    attrs = {"then_branch": then, "else_branch": other, "Tout": ["float32"]}
    p.run(p.op(d.op, chosen, [d.array((2,), "float32")], **attrs))
    return p


alone_spec("_If", _choice, types=())


def _repeated(d: Draw) -> Program:
    p = Program(differentiate=False)

    def more(f: Program, i: Any, x: Any) -> list[Any]:
        return [f.op("Less", i, f.const(4, "int32"))]

    def step(f: Program, i: Any, x: Any) -> list[Any]:
        return [f.op("AddV2", i, f.const(1, "int32")), f.op("AddV2", x, x)]

    types = ["int32", "float32"]
    given = [np.int32(d.integer(0, 5)), d.array((2,), "float32")]
    functions = {
        "cond": p.function(types, more, name="cond"),
        "body": p.function(types, step, name="body"),
    }
    p.run(p.op(d.op, given, **functions))
    return p


alone_spec("_While", _repeated, types=())


def _reference_loop(d: Draw) -> Program:
    """A counter that stays a reference on its way round the loop."""
    p = Program(differentiate=False)
    # Of unknown shape: importers do not agree on what a back edge tells of shapes.
    variable = p.op("VariableV2", dtype="int32", shape=None, name="v")
    zero = p.const(0, "int32")
    p.run(p.op("Assign", variable, zero, validate_shape=False))
    frame = {"frame_name": "frame"}
    entered = p.op("RefEnter", variable, **frame)
    merged = p.op("RefMerge", [entered, entered], name="merge")
    limit = p.op("Enter", p.const(d.integer(1, 4), "int32"), is_constant=True, **frame)
    going = p.op("LoopCond", p.op("Less", merged[0], limit))
    ways = p.op("RefSwitch", merged[0], going)
    one = p.op("Enter", p.const(1, "int32"), is_constant=True, **frame)
    counted = p.op("AssignAdd", ways[1], one)
    again = p.op("RefNextIteration", counted)
    p.nodes[[n.name for n in p.nodes].index("merge")].inputs[1] = again.name
    p.run(p.op("RefExit", ways[0]))
    return p


alone_spec("RefNextIteration", _reference_loop, types=())


def _callback(d: Draw) -> Program:
    """A function of another process: two steps, both of which fail."""
    p = Program(differentiate=False)
    made = p.op(d.op, [d.array((2,))], token="pyfunc_none", Tout=[d.dtype])
    p.run(made)
    p.run(made)
    return p


alone_spec("PyFunc PyFuncStateless EagerPyFunc", _callback)
