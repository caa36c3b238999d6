"""Further ops that run functions of the graph: For, RemoteCall, gradients, maps.

As those of `functional_ops.py` they have no kernels: the worker compiles the functions
into the piece (`worker/compile/emit_function_ops.py`). MapDefun alone calls its
function from a kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import unknown_shapes
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tensorloom.framework.registry.shape_inference import InferenceContext


def _mapped_shapes(c: InferenceContext) -> Sequence[TensorShape]:
    """The shapes of one call's results behind the common dimension 0."""
    size: int | None = None
    for index in range(len(c.attrs["Targuments"])):
        dims = c.with_rank_at_least(index, 1).dims_tuple
        if dims is not None:
            size = c.merge_dim(size, dims[0])
    shapes: Sequence[TensorShape] = c.attrs["output_shapes"]
    if len(shapes) != c.num_outputs:
        c.fail("`output_shapes` must be the same length as `output_types`")
    leading = TensorShape.of((size,))
    return [leading.concatenate(s) if s.rank is not None else UNKNOWN for s in shapes]


def _gradient_shapes(c: InferenceContext) -> Sequence[TensorShape]:
    """A gradient has the shape of its argument; arguments come first."""
    if len(c.attrs["Tin"]) < c.num_outputs:
        c.fail("len(inputs) must be >= len(outputs)")
    return [_gradient_shape(c, index) for index in range(c.num_outputs)]


def _input_shapes(c: InferenceContext) -> list[TensorShape]:
    return [c.input_shape(index) for index in range(c.num_inputs)]


def _gradient_shape(c: InferenceContext, index: int) -> TensorShape:
    if c.attrs["Tin"][index] != dtypes.resource:
        return c.input_shape(index)
    held = c.handle_data(index)
    return UNKNOWN if held is None else held.shape


for _name, _doc in (
    ("_If", "Runs then_branch(input) if cond is true, else else_branch(input)."),
    ("_While", "input = body(input) as long as cond(input) is true."),
):
    _is_if = _name == "_If"
    register_op(
        _name,
        inputs=["cond: Tcond", "input: Tin"] if _is_if else ["input: T"],
        outputs=["output: Tout"] if _is_if else ["output: T"],
        attrs=(
            [
                "Tcond: type",
                "Tin: list(type) >= 1",
                "Tout: list(type) >= 1",
                "then_branch: func",
                "else_branch: func",
            ]
            if _is_if
            else ["T: list(type) >= 0", "cond: func", "body: func"]
        ),
        shape_fn=unknown_shapes if _is_if else _input_shapes,
        stateful=True,
        doc=_doc,
    )

register_op(
    "For",
    inputs=["start: int32", "limit: int32", "delta: int32", "input: T"],
    outputs=["output: T"],
    attrs=["T: list(type) >= 0", "body: func"],
    shape_fn=unknown_shapes,
    doc="input = body(i, input) for each i of range(start, limit, delta).",
)
register_op(
    "RemoteCall",
    inputs=["target: string", "args: Tin"],
    outputs=["output: Tout"],
    attrs=["Tin: list(type) >= 1", "Tout: list(type) >= 1", "f: func"],
    shape_fn=unknown_shapes,
    stateful=True,
    doc="Calls f(args) on the device `target` of this task.",
)
register_op(
    "SymbolicGradient",
    inputs=["input: Tin"],
    outputs=["output: Tout"],
    attrs=["Tin: list(type) >= 1", "Tout: list(type) >= 1", "f: func"],
    shape_fn=_gradient_shapes,
    doc=(
        "The gradients of f's arguments, from its arguments followed by the gradients "
        "of its results; through loops and branches, too, where TensorFlow gives zeros "
        "or an error."
    ),
)
register_op(
    "MapDefun",
    inputs=["arguments: Targuments", "captured_inputs: Tcaptured"],
    outputs=["output: output_types"],
    attrs=[
        "Targuments: list(type) >= 1",
        "Tcaptured: list(type) >= 0 = []",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
        "f: func",
        "max_intra_op_parallelism: int = 1",
    ],
    shape_fn=_mapped_shapes,
    doc="Calls f for the slices of its arguments, and stacks what it gives.",
)
