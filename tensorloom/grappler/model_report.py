"""`GenerateModelReport`: what is known of each node of a graph before it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.types.dtype_words import dtype_word
from tensorloom.grappler.item_graph import item_graph

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor


def GenerateModelReport(
    metagraph: Any, assume_valid_feeds: bool = True, debug: bool = False
) -> bytes:
    """Describes the nodes that the fetches of a MetaGraphDef need.

    Args:
      metagraph: the message; its collection `train_op` names what is fetched.
      assume_valid_feeds: whether what is fed has the shape that its placeholder says.
      debug: also tells which inputs have known values.

    Returns:
      Text: for each node its name, its op and the shapes of its outputs.
    """
    item = item_graph(metagraph, assume_valid_feeds=assume_valid_feeds)
    if item is None:
        return b"Error: failed to preprocess metagraph: check your log file for errors"
    lines: list[str] = []
    for operation in [*item.needed(), *item.enqueues()]:
        lines += _described(operation, debug)
    return "".join(f"{line}\n" for line in lines).encode()


def _described(operation: Operation, debug: bool) -> list[str]:
    lines = [f"{operation.name} [{operation.type}]"]
    lines += [
        f"\toutput {index} ({dtype_word(tensor.dtype)}) has shape {_shape(tensor)}"
        for index, tensor in enumerate(operation.outputs)
    ]
    if debug:
        lines += [
            f"\tinput {index} ({dtype_word(tensor.dtype)}) has known value"
            for index, tensor in enumerate(operation.inputs)
            if tensor.op.type == "Const"
        ]
    return lines


def _shape(tensor: Tensor) -> str:
    if tensor.shape.rank is None:
        return "?"
    dims = ["?" if dim is None else str(dim) for dim in tensor.shape.as_list()]
    return f"[{', '.join(dims)}]"
