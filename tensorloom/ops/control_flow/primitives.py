"""The primitives of classic control flow: dead tensors, frames and iterations.

Graphs that TensorFlow's v1 clients make have these in place of `If` and `While`. The
master turns structured ones into functions (`master/functionalize/`); the rest runs on
the worker's dataflow interpreter. The gradient of a loop needs the contexts of the
client that built it (`client/control_flow/control_flow_context.py`). A MetaGraphDef
brings them, a GraphDef does not: as in TensorFlow asking for it is then an error. That
of Switch and Merge is made of Merge and Switch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework.functions.classic_op_types import EXITS
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import (
    InferenceContext,
    no_outputs,
    unknown_shapes,
)
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor
    from tensorloom.framework.registry.shape_inference import HandleData

_SCALAR = TensorShape.of(())


def _pass_handle(c: InferenceContext, outputs: int) -> HandleData | None:
    handle = c.handle_data(0)
    if handle is not None:
        for index in range(outputs):
            c.set_output_handle_data(index, handle)
    return handle


def _switch_shape(c: InferenceContext) -> Sequence[TensorShape]:
    c.with_rank(1, 0)
    _pass_handle(c, 2)
    return [c.input_shape(0)] * 2


def _switch_n_shape(c: InferenceContext) -> Sequence[TensorShape]:
    c.with_rank(1, 0)
    _pass_handle(c, c.num_outputs)
    return [c.input_shape(0)] * c.num_outputs


def _ref_select_shape(c: InferenceContext) -> TensorShape:
    """What all inputs share; TensorFlow asks for fully known shapes."""
    c.with_rank(0, 0)
    first = c.input_shape(1).dims_tuple
    if first is None or None in first:
        return UNKNOWN
    same = all(c.input_shape(i).dims_tuple == first for i in range(1, c.num_inputs))
    return TensorShape.of(first) if same else UNKNOWN


def _passed_shape(c: InferenceContext) -> TensorShape:
    _pass_handle(c, 1)
    return c.input_shape(0)


def _enter_shape(c: InferenceContext) -> TensorShape:
    """Known only for what all iterations share: a loop may change its variables."""
    handle = _pass_handle(c, 1)
    if c.attrs["is_constant"] or handle is not None:
        return c.input_shape(0)
    return UNKNOWN


def _common_shape(c: InferenceContext) -> TensorShape:
    """The dims in which all inputs agree."""
    common = c.input_shape(0).dims_tuple
    for index in range(1, c.num_inputs):
        dims = c.input_shape(index).dims_tuple
        if common is None or dims is None or len(dims) != len(common):
            return UNKNOWN
        common = tuple(
            [a if a == b else None for a, b in zip(common, dims, strict=True)]
        )
    return TensorShape.of(common)


def _merge_shape(c: InferenceContext) -> Sequence[TensorShape]:
    _pass_handle(c, 1)
    return [_common_shape(c), _SCALAR]


def _loop_cond_shape(c: InferenceContext) -> TensorShape:
    return c.with_rank(0, 0)


def _switch_grad(op: Operation, *grads: Tensor) -> Sequence[Any]:
    context = op._control_flow_context
    if context is not None:
        result: Sequence[Any] = context.switch_gradient(op, grads)
        return result
    from tensorloom.ops.control_flow import classic

    pred = op.inputs[1]
    from_false = classic.switch(grads[0], pred)[0]
    from_true = classic.switch(grads[1], pred)[1]
    return [classic.merge([from_false, from_true]), None]


def _merge_grad(
    op: Operation, grad: Tensor, unused_index_grad: object
) -> Sequence[Any]:
    from tensorloom.ops.control_flow import classic

    source = op.inputs[0].op
    context = source._control_flow_context
    if context is not None and source.type in EXITS:
        context = context.outer_context
    if context is not None:
        _check_graph(op)
        result: Sequence[Any] = context.merge_gradient(grad)
        return result
    taken = [
        apply_op("Equal", x=op.outputs[1], y=i, name="Equal")
        for i in range(len(op.inputs))
    ]
    return [classic.switch_beside(grad, pred)[1] for pred in taken]


class _UnknownLoopError(LookupError, AttributeError):
    """The second is what TensorFlow raises: its loops miss their context."""


def _check_graph(op: Operation) -> None:
    """Raises LookupError where a body goes on with imported control flow outside."""
    if op.graph is not get_default_graph():
        raise LookupError(
            f"No gradient defined for operation '{op.name}' (op type: {op.type}) in "
            "the body of a function or of a loop: it is of an imported loop or branch "
            "outside of it, and so must be all that the gradient is taken of."
        )


def _context_of_gradient(op: Operation) -> Any:
    """The context that the gradient of a loop is being made in.

    Raises:
      _UnknownLoopError: the loop has none.
      LookupError: the loop is of another graph than the gradient.
    """
    context = get_default_graph()._get_control_flow_context()
    if op._control_flow_context is not None:
        _check_graph(op)
    if context is None or op._control_flow_context is None:
        raise _UnknownLoopError(
            f"No gradient defined for operation '{op.name}' (op type: {op.type}): the "
            "loop came in a GraphDef, which does not say what it is made of. Import "
            "its MetaGraphDef with tf.train.import_meta_graph, or build the loop and "
            "its gradient in one program, and export both."
        )
    return context


def _enter_grad(op: Operation, grad: Tensor) -> Any:
    return _context_of_gradient(op).enter_gradient(op, grad)


def _exit_grad(op: Operation, grad: Tensor) -> Any:
    return _context_of_gradient(op).exit_gradient(op, grad)


def _next_iteration_grad(op: Operation, grad: Tensor) -> Tensor:
    _context_of_gradient(op)
    return grad  # the gradient's NextIteration is made with that of the Switch


_LOOP_ATTRS = [
    "T: type",
    "frame_name: string",
    "is_constant: bool = false",
    "parallel_iterations: int = 10",
]

for _ref in (False, True):
    _prefix, _type = ("Ref", "Ref(T)") if _ref else ("", "T")
    register_op(
        f"{_prefix}Switch",
        inputs=[f"data: {_type}", "pred: bool"],
        outputs=[f"output_false: {_type}", f"output_true: {_type}"],
        attrs=["T: type"],
        shape_fn=_switch_shape,
        gradient=_switch_grad,
        allows_uninitialized_input=_ref,
        doc="Passes data to the output that pred names; the other output is dead.",
    )
    register_op(
        f"{_prefix}Merge",
        inputs=[f"inputs: N * {_type}"],
        outputs=[f"output: {_type}", "value_index: int32"],
        attrs=["T: type", "N: int >= 1"],
        shape_fn=_merge_shape,
        gradient=_merge_grad,
        doc="Passes the first input that is there and not dead, and its index.",
    )
    register_op(
        f"{_prefix}Enter",
        inputs=[f"data: {_type}"],
        outputs=[f"output: {_type}"],
        attrs=_LOOP_ATTRS,
        shape_fn=_passed_shape if _ref else _enter_shape,
        gradient=_enter_grad,
        doc=(
            "Passes data into a frame: to its first iteration, or if is_constant to "
            "every one."
        ),
    )
    register_op(
        f"{_prefix}Exit",
        inputs=[f"data: {_type}"],
        outputs=[f"output: {_type}"],
        attrs=["T: type"],
        shape_fn=_passed_shape,
        gradient=_exit_grad,
        doc="Passes data out of its frame, to where the frame was entered.",
    )
    register_op(
        f"{_prefix}NextIteration",
        inputs=[f"data: {_type}"],
        outputs=[f"output: {_type}"],
        attrs=["T: type"],
        shape_fn=_passed_shape,
        gradient=_next_iteration_grad,
        doc="Passes data to the next iteration of its frame.",
    )

register_op(
    "_SwitchN",
    inputs=["data: T", "output_index: int32"],
    outputs=["outputs: num_outs * T"],
    attrs=["num_outs: int >= 1", "T: type"],
    shape_fn=_switch_n_shape,
    doc="Passes data to the output that output_index names; the others are dead.",
)
register_op(
    "RefSelect",
    inputs=["index: int32", "inputs: N * Ref(T)"],
    outputs=["output: Ref(T)"],
    attrs=["T: type", "N: int >= 1"],
    shape_fn=_ref_select_shape,
    doc="Passes on the input that index names.",
)
register_op(
    "_ListToArray",
    inputs=["input: Tin"],
    outputs=["output: N * T"],
    attrs=["Tin: list(type) >= 1", "T: type", "N: int >= 1"],
    shape_fn=unknown_shapes,
    doc="Its inputs, which have one dtype.",
)
register_op(
    "_ArrayToList",
    inputs=["input: N * T"],
    outputs=["output: out_types"],
    attrs=["T: type", "N: int >= 1", "out_types: list(type) >= 1"],
    shape_fn=unknown_shapes,
    doc="Its inputs.",
)
register_op(
    "LoopCond",
    inputs=["input: bool"],
    outputs=["output: bool"],
    shape_fn=_loop_cond_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="The condition of a loop, which its Switches take as their pred.",
)
register_op(
    "ControlTrigger",
    shape_fn=no_outputs,
    doc="Does nothing, once its control inputs are done or dead; is never dead itself.",
)
register_op(
    "Abort",
    attrs=["error_msg: string = ''", "exit_without_error: bool = false"],
    shape_fn=no_outputs,
    stateful=True,
    doc="Ends the step with an error.",
)
