"""The gradients of the ops of TensorArray.

An array of gradients stands beside each array: the gradient of a read is a write to it,
and that of a write is a read from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.gradient_registry import RegisterGradient
from tensorloom.ops.lists import gradient_source
from tensorloom.ops.lists.tensor_array import TensorArray

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor


def _grad_source(name: str) -> str:
    """What the gradient computation is called: each has arrays of its own.

    Raises:
      ValueError: nobody said, and there is no `gradients` scope in the name.
    """
    computation = gradient_source.current()
    if computation is not None:
        return computation
    parts = name.split("/")
    found = [i for i, part in enumerate(parts) if part.startswith("gradients")]
    if not found:
        raise ValueError(
            "Expected op/tensor name to start with gradients (excluding scope), got: "
            f"{name}. This means that a tf.gradients op with this op in its dependency "
            "path has a custom name that does not start with 'gradients'."
        )
    return "/".join(parts[: found[-1] + 1])


def _grad_array(op: Operation, dtype: Any, flow: Tensor, named: Tensor) -> Any:
    """The array of gradients beside the one that `op` works on."""
    array = TensorArray(
        dtype=dtype,
        handle=op.inputs[0],
        flow=flow,
        colocate_with_first_write_call=False,
    )
    return array.grad(source=_grad_source(named.name), flow=flow)


@RegisterGradient("TensorArrayReadV3")
def read_grad(op: Operation, grad: Tensor) -> list[Any]:
    array = _grad_array(op, op.attrs["dtype"], op.inputs[2], grad)
    return [None, None, array.write(op.inputs[1], grad).flow]


@RegisterGradient("TensorArrayWriteV3")
def write_grad(op: Operation, flow: Tensor) -> list[Any]:
    array = _grad_array(op, op.attrs["T"], flow, flow)
    return [None, None, array.read(op.inputs[1]), flow]


@RegisterGradient("TensorArrayGatherV3")
def gather_grad(op: Operation, grad: Tensor) -> list[Any]:
    array = _grad_array(op, op.attrs["dtype"], op.inputs[2], grad)
    return [None, None, array.scatter(op.inputs[1], grad).flow]


@RegisterGradient("TensorArrayScatterV3")
def scatter_grad(op: Operation, flow: Tensor) -> list[Any]:
    array = _grad_array(op, op.attrs["T"], flow, flow)
    return [None, None, array.gather(op.inputs[1]), flow]


@RegisterGradient("TensorArrayConcatV3")
def concat_grad(op: Operation, grad: Tensor, unused_lengths_grad: Any) -> list[Any]:
    array = _grad_array(op, op.attrs["dtype"], op.inputs[1], grad)
    return [None, array.split(grad, lengths=op.outputs[1]).flow]


@RegisterGradient("TensorArraySplitV3")
def split_grad(op: Operation, flow: Tensor) -> list[Any]:
    array = _grad_array(op, op.attrs["T"], flow, flow)
    return [None, array.concat(), None, flow]
