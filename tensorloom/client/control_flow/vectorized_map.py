"""`tf.vectorized_map`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow.map_fn import map_fn
from tensorloom.client.functions.concrete_function import trace
from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import nest
from tensorloom.framework.types.tensor_conversion import convert_to_tensor

if TYPE_CHECKING:
    from tensorloom.client.functions.concrete_function import ConcreteFunction
    from tensorloom.client.functions.func_graph import FuncGraph


@export("vectorized_map")
def vectorized_map(fn: Callable[..., Any], elems: Any) -> Any:
    """`fn` of each slice of `elems` along the first dimension, stacked again.

    Results are those of TensorFlow, which rewrites `fn` to take all slices at once;
    here they are taken one after the other, in one loop that calls `fn` as a function.

    Args:
      fn: gets slices in the structure of `elems`; it is called once, here. Unlike
        TensorFlow's it may have branches and loops.
      elems: a tensor, or a structure of tensors, of one size in the first dimension.

    Returns:
      A structure as `fn` returned it, of tensors [n, ...].

    Raises:
      ValueError: an element is a scalar, or the sizes differ.
    """
    elems = nest.map_structure(convert_to_tensor, elems)

    def make_arguments(graph: FuncGraph) -> tuple[list[Any], dict[str, Any]]:
        def argument(tensor: Any) -> Any:
            return graph.add_argument(tensor.dtype, tensor.shape[1:], "slice")

        return [nest.map_structure(argument, elems)], {}

    body = trace("vectorized_map", make_arguments, fn, [])
    return map_fn(
        lambda slices: call_in_iteration(body, nest.flatten(slices)),
        elems,
        dtype=body.output_dtypes,
    )


def call_in_iteration(function: ConcreteFunction, arguments: Sequence[Any]) -> Any:
    """A call in one iteration of a loop over what are all slices at once in TensorFlow.

    Gradients of tensor arrays outside of the function are the iteration's own; they
    would be added to those of the iterations before.
    """
    captured = [
        apply_op("_TensorArrayInIteration", handle=tensor, name="TensorArray")
        if tensor.op.type == "TensorArrayV3" and tensor.value_index == 0
        else tensor
        for tensor in function.captured_inputs
    ]
    return function.call_flat(arguments, captured)
