"""What a user may write for a tensor or an operation of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.graph.operation import Operation
from tensorloom.framework.graph.tensor import Tensor

if TYPE_CHECKING:
    from tensorloom.framework.graph.dataflow_graph import Graph


def find(graph: Graph, obj: Any, allow_tensor: bool, allow_operation: bool) -> Any:
    """The Tensor or Operation of `graph` that `obj` is, names, or stands for.

    Raises:
      TypeError: `obj` cannot stand for one of the allowed kinds.
      ValueError: it is of another graph, or its name is malformed.
      KeyError: there is no such name.
    """
    if not allow_tensor and not allow_operation:
        raise ValueError("allow_tensor and allow_operation can't both be False.")
    types = " or ".join(
        name
        for name, allowed in (("Tensor", allow_tensor), ("Operation", allow_operation))
        if allowed
    )
    converter = getattr(obj, "_as_graph_element", None)
    if converter is not None:
        converted = converter()  # never tested for truth: it may be a Tensor
        obj = obj if converted is None else converted
    if isinstance(obj, Tensor) and allow_tensor:
        if obj.graph is not graph:
            raise ValueError(f"Tensor {obj} is not an element of this graph.")
        return obj
    if isinstance(obj, Operation) and allow_operation:
        if obj.graph is not graph:
            raise ValueError(f"Operation {obj!r} is not an element of this graph.")
        return obj
    if isinstance(obj, bytes):
        obj = obj.decode()
    if isinstance(obj, str):
        return _find_name(graph, obj, allow_tensor, allow_operation)
    raise TypeError(f"Can not convert a {type(obj).__name__} into a {types}.")


def _find_name(
    graph: Graph, name: str, allow_tensor: bool, allow_operation: bool
) -> Any:
    if ":" in name:
        if allow_tensor:
            return _find_tensor(graph, name)
        if len(name.split(":")) == 2 and name.split(":")[1].isdigit():
            raise ValueError(
                f"Name {name!r} appears to refer to a Tensor, not an Operation."
            )
        raise ValueError(f"Name {name!r} looks like an (invalid) Operation name.")
    op = graph._by_name.get(name)
    if allow_operation:
        if op is None:
            raise KeyError(
                f"The name {name!r} refers to an Operation not in the graph."
            )
        return op
    if op is not None:
        raise ValueError(
            f"The name {name!r} refers to an Operation, not a Tensor. Tensor names "
            'must be of the form "<op_name>:<output_index>".'
        )
    raise ValueError(
        f"The name {name!r} looks like an (invalid) Operation name, not a Tensor. "
        'Tensor names must be of the form "<op_name>:<output_index>".'
    )


def _find_tensor(graph: Graph, name: str) -> Tensor:
    op_name, _, index_text = name.partition(":")
    if not index_text.isdigit():
        raise ValueError(
            f"The name {name!r} looks a like a Tensor name, but is not a valid one. "
            'Tensor names must be of the form "<op_name>:<output_index>".'
        )
    op = graph._by_name.get(op_name)
    if op is None:
        raise KeyError(
            f"The name {name!r} refers to a Tensor which does not exist. The "
            f"operation, {op_name!r}, does not exist in the graph."
        )
    index = int(index_text)
    if index >= len(op._outputs):
        raise KeyError(
            f"The name {name!r} refers to a Tensor which does not exist. The "
            f"operation, {op_name!r}, exists but only has {len(op._outputs)} outputs."
        )
    return op._outputs[index]
