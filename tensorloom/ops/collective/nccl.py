"""Reductions among the GPUs of a process, as NCCL's ops define them.

What TensorFlow's clients make is a node for each GPU; the collective ops took over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.graph.graph import device
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import unchanged_shape

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext
    from tensorloom.framework.types.tensor_shape import TensorShape


def _reduce_shape(c: InferenceContext) -> TensorShape:
    shape = c.input_shape(0)
    for index in range(1, c.num_inputs):
        shape = c.merge(shape, c.input_shape(index))
    return shape


def _broadcast_shape(c: InferenceContext) -> TensorShape:
    shape: TensorShape = c.attrs["shape"]
    return shape


def _check_sum(op: Operation) -> None:
    if op.get_attr("reduction") != b"sum":
        raise LookupError("No gradient defined for reductions other than sum.")


def _all_reduce_grad(op: Operation, grad: Tensor) -> Any:
    _check_sum(op)
    name = op.get_attr("shared_name")
    return apply_op(
        "NcclAllReduce",
        input=grad,
        reduction="sum",
        num_devices=op.get_attr("num_devices"),
        shared_name=name + b"_grad",
    )


def _reduce_grad(op: Operation, grad: Tensor) -> list[Any]:
    _check_sum(op)
    with device(op.device):
        result = apply_op("NcclBroadcast", input=grad, shape=grad.shape)
    return [result] * len(op.inputs)


def _broadcast_grad(op: Operation, *accumulated: Tensor) -> Any:
    with device(op.device):
        return apply_op("NcclReduce", input=list(accumulated), reduction="sum")


register_op(
    "NcclAllReduce",
    inputs=["input: T"],
    outputs=["data: T"],
    attrs=[
        "reduction: {'min', 'max', 'prod', 'sum'}",
        "T: {half, float, double, int32, int64}",
        "num_devices: int",
        "shared_name: string",
    ],
    shape_fn=unchanged_shape,
    gradient=_all_reduce_grad,
    stateful=True,
    doc="The reduction of what all devices bring, on each of them.",
)

register_op(
    "NcclBroadcast",
    inputs=["input: T"],
    outputs=["output: T"],
    attrs=["T: {half, float, double, int32, int64}", "shape: shape"],
    shape_fn=_broadcast_shape,
    gradient=_broadcast_grad,
    stateful=True,
    doc="The value of one device, on all that ask for it.",
)

register_op(
    "NcclReduce",
    inputs=["input: num_devices * T"],
    outputs=["data: T"],
    attrs=[
        "reduction: {'min', 'max', 'prod', 'sum'}",
        "T: {half, float, double, int32, int64}",
        "num_devices: int >= 1",
    ],
    shape_fn=_reduce_shape,
    gradient=_reduce_grad,
    stateful=True,
    doc="The reduction of values of several devices.",
)
