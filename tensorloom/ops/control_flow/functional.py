"""Ops that run functions of the graph: If, While, calls, and _Arg and _Retval.

What they do is not in a kernel: the worker compiles their functions into the piece
around them. Gradients of `If` and `While` are made by the client, which holds the
bodies as graphs (`client/gradients/cond_gradient.py`,
`client/gradients/while_gradient.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework.graph.graph_ir import LOWERED
from tensorloom.framework.registry.op_def_library import apply_op, create_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import (
    InferenceContext,
    no_outputs,
    unknown_shapes,
)
from tensorloom.framework.types.attr_value import NameAttrList
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.types import dtypes


def _declared_shapes(c: InferenceContext) -> Sequence[TensorShape]:
    """What the `output_shapes` attr says, if anything."""
    declared: Sequence[TensorShape] = c.attrs.get("output_shapes") or ()
    if declared and len(declared) != c.num_outputs:
        c.fail(
            "`output_shapes` must be the same length as num outputs "
            f"({len(declared)} vs. {c.num_outputs}"
        )
    return declared or unknown_shapes(c)


def _while_shapes(c: InferenceContext) -> Sequence[TensorShape]:
    for i in range(c.num_inputs):
        handle = c.handle_data(i)
        if handle is not None:
            c.set_output_handle_data(i, handle)
    if not c.attrs.get("output_shapes"):
        return [c.input_shape(i) for i in range(c.num_inputs)]
    return _declared_shapes(c)


def _call_shapes(c: InferenceContext) -> Sequence[TensorShape]:
    results = c.function_results(c.attrs["f"].name)
    if results is None or len(results) != c.num_outputs:
        return unknown_shapes(c)
    for i, (_, handle) in enumerate(results):
        if handle is not None:
            c.set_output_handle_data(i, handle)
    return [shape for shape, _ in results]


def _argument_shape(c: InferenceContext) -> TensorShape:
    shapes: Sequence[TensorShape] = c.attrs.get("_output_shapes") or ()
    return shapes[0] if shapes else UNKNOWN


def _fake_param_shape(c: InferenceContext) -> TensorShape:
    shape: TensorShape = c.attrs["shape"]
    return shape


for _name in ("If", "StatelessIf"):
    register_op(
        _name,
        inputs=["cond: Tcond", "input: Tin"],
        outputs=["output: Tout"],
        attrs=[
            "Tcond: type",
            "Tin: list(type) >= 0",
            "Tout: list(type) >= 0",
            "then_branch: func",
            "else_branch: func",
            "output_shapes: list(shape) = []",
        ],
        shape_fn=_declared_shapes,
        stateful=_name == "If",
        doc="Runs then_branch(input) if cond is true, else else_branch(input).",
    )

for _name in ("Case", "StatelessCase"):
    register_op(
        _name,
        inputs=["branch_index: int32", "input: Tin"],
        outputs=["output: Tout"],
        attrs=[
            "Tin: list(type) >= 0",
            "Tout: list(type) >= 0",
            "branches: list(func) >= 1",
            "output_shapes: list(shape) = []",
        ],
        shape_fn=_declared_shapes,
        stateful=_name == "Case",
        doc=(
            "Runs branches[branch_index](input); the last branch for an index out of "
            "range."
        ),
    )

for _name in ("While", "StatelessWhile"):
    register_op(
        _name,
        inputs=["input: T"],
        outputs=["output: T"],
        attrs=[
            "T: list(type) >= 0",
            "cond: func",
            "body: func",
            "output_shapes: list(shape) = []",
            "parallel_iterations: int = 10",
        ],
        shape_fn=_while_shapes,
        stateful=_name == "While",
        doc="input = body(input) as long as cond(input) is true; gives the last input.",
    )

for _name in ("PartitionedCall", "StatefulPartitionedCall"):
    register_op(
        _name,
        inputs=["args: Tin"],
        outputs=["output: Tout"],
        attrs=[
            "Tin: list(type) >= 0",
            "Tout: list(type) >= 0",
            "f: func",
            "config: string = ''",
            "config_proto: string = ''",
            "executor_type: string = ''",
        ],
        shape_fn=_call_shapes,
        stateful=_name == "StatefulPartitionedCall",
        doc="Calls f(args); the body may be spread over the devices of the task.",
    )

register_op(
    "_CompiledCluster",
    inputs=["args: Tin"],
    outputs=["output: Tout"],
    attrs=["Tin: list(type) >= 0", "Tout: list(type) >= 0", "f: func"],
    shape_fn=_call_shapes,
    doc="Calls f(args), a pure function over dense tensors, as machine code once there "
    "is some.",
)

register_op(
    "_Arg",
    outputs=["output: T"],
    attrs=["T: type", "index: int >= 0"],
    shape_fn=_argument_shape,
    stateful=True,
    doc="The argument number `index` of the function or step.",
)

register_op(
    "_Retval",
    inputs=["input: T"],
    attrs=["T: type", "index: int >= 0"],
    shape_fn=no_outputs,
    stateful=True,
    doc="Makes the input the result number `index` of the function or step.",
)

register_op(
    "_DeviceArg",
    outputs=["output: T"],
    attrs=["T: type", "index: int >= 0"],
    shape_fn=_argument_shape,
    stateful=True,
    doc="An argument that lies in the memory of the device.",
)

register_op(
    "_DeviceRetval",
    inputs=["input: T"],
    attrs=["T: type", "index: int >= 0"],
    shape_fn=no_outputs,
    stateful=True,
    doc="A result that lies in the memory of the device.",
)

register_op(
    "FakeParam",
    outputs=["output: dtype"],
    attrs=["dtype: type", "shape: shape"],
    shape_fn=_fake_param_shape,
    doc=(
        "A value that nobody reads: what the branch that was not taken gives where the "
        "other one gives an intermediate of its own. Unknown dimensions are 0."
    ),
)


# --- builders ---------------------------------------------------------------------


def call_op(
    op_type: str,
    inputs: Sequence[Tensor],
    name: str,
    leading: dict[str, Any] | None = None,
    **attrs: Any,
) -> Operation:
    """Adds a node that runs functions; returns the Operation.

    Args:
      inputs: the list argument (`input`, or `args` of a call).
      leading: the argument in front of it (`cond`, `branch_index`), by name.
      attrs: further attrs; function names are given as NameAttrList.
    """
    keywords: dict[str, Any] = dict(leading or {})
    keywords["args" if op_type.endswith("Call") else "input"] = list(inputs)
    keywords.update(attrs)
    op = create_op(op_type, name, keywords)
    if not op_type.endswith("Call"):
        # As TensorFlow 1.x does: branches and loops take scalars as predicates.
        op._set_attr(LOWERED, True)
    return op


def named(function_name: str) -> NameAttrList:
    """A function attr without attrs of its own."""
    return NameAttrList(function_name)


def fake_param(dtype: dtypes.DType, shape: TensorShape) -> Tensor:
    """A placeholder for a value that nobody reads."""
    fake: Tensor = apply_op("FakeParam", dtype=dtype.base_dtype, shape=shape)
    return fake
