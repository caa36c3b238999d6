"""Gradients and loops, which add many operations to a graph at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tensorloom.capi import imports
from tensorloom.client.control_flow.while_loop import while_loop
from tensorloom.client.gradients.gradients import gradients
from tensorloom.client.importing.importer import remove_operations
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.dtype_words import dtype_word
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.dataflow_graph import Graph
    from tensorloom.framework.graph.tensor import Tensor


@contextmanager
def _all_or_nothing(graph: Graph) -> Iterator[None]:
    """Takes the operations back that were added before an error."""
    with graph._lock, graph.as_default():
        count = len(graph._operations)
        try:
            yield
        except BaseException:
            remove_operations(graph, count)
            raise


def add_gradients(
    graph: Graph,
    prefix: str | None,
    ys: list[Tensor],
    xs: list[Tensor],
    grad_ys: list[Tensor] | None,
) -> list[Tensor | None]:
    """Adds the gradients of the sum of ys; None for an x that it does not depend on.

    Args:
      prefix: of the operations' names; the graph must not have it yet.

    Raises:
      InvalidArgumentError: the graph has the prefix, or a tensor is of another graph.
      LookupError: an op on the way has no gradient.
      ValueError, TypeError: the tensors do not fit together.
    """
    _check_prefix(graph, prefix)
    for tensor in [*ys, *xs, *(grad_ys or ())]:
        if tensor.graph is not graph:
            raise invalid_argument(f"{tensor.name} is of another graph")
    with _all_or_nothing(graph):
        found = gradients(ys, xs, grad_ys, name=prefix or "gradients")
        return [None if each is None else convert_to_tensor(each) for each in found]


def _check_prefix(graph: Graph, prefix: str | None) -> None:
    if prefix is None:
        return
    if not prefix:
        raise invalid_argument("the prefix is empty")
    for name in graph._by_name:
        if name == prefix or name.startswith(f"{prefix}/"):
            raise invalid_argument(
                f"prefix [{prefix}] conflicts with existing node in the graph named "
                f"[{name}]"
            )


# --- Loops ------------------------------------------------------------------------


def add_while(
    graph: Graph,
    name: str,
    inputs: Sequence[Tensor],
    cond: tuple[Graph, list[Tensor], Tensor],
    body: tuple[Graph, list[Tensor], list[Tensor]],
) -> list[Tensor]:
    """Adds a loop of two graphs; its results.

    Args:
      cond: the graph of the condition, its inputs, and its result.
      body: the graph of the body, its inputs, and its results.

    Raises:
      InvalidArgumentError, ValueError, TypeError: a graph does not fit the loop.
    """
    for part, tensors in ((cond[0], [cond[2]]), (body[0], body[2])):
        for tensor in tensors:
            if tensor.graph is not part:
                raise invalid_argument(
                    f"Requested return tensor '{tensor.name}' not found in graph def"
                )
    if cond[2].dtype.base_dtype != dtypes.bool:
        raise invalid_argument(
            "BuildWhileLoop: 'cond' argument must return a boolean output, got "
            f"{dtype_word(cond[2].dtype)}"
        )
    with _all_or_nothing(graph):
        results = while_loop(
            lambda *values: _copy(cond[0], cond[1], [cond[2]], values)[0],
            lambda *values: _copy(body[0], body[1], body[2], values),
            list(inputs),
            shape_invariants=_invariants(inputs, body),
            name=name,
            return_same_structure=True,
        )
    return list(results)


def _invariants(
    inputs: Sequence[Tensor], body: tuple[Graph, list[Tensor], list[Tensor]]
) -> list[TensorShape]:
    """What holds of a loop's variables: nothing where the body is told nothing.

    The graphs of a loop are built without the shapes of its inputs. A variable that
    the body gives on as it is, or whose shape is known there to be the same, keeps its
    shape.
    """
    return [
        tensor.shape
        if result is argument or result.shape == tensor.shape
        else _same_sizes(tensor.shape, result.shape)
        for tensor, argument, result in zip(inputs, body[1], body[2], strict=True)
    ]


def _same_sizes(first: TensorShape, second: TensorShape) -> TensorShape:
    """The sizes that two shapes have in common."""
    if first.dims_tuple is None or second.dims_tuple is None:
        return (
            first
            if second.dims_tuple is None and first.dims_tuple == ()
            else (TensorShape(None))
        )
    if len(first.dims_tuple) != len(second.dims_tuple):
        return TensorShape(None)
    pairs = zip(first.dims_tuple, second.dims_tuple, strict=True)
    return TensorShape([a if a == b else None for a, b in pairs])


def _copy(
    source: Graph,
    arguments: Sequence[Tensor],
    results: Sequence[Tensor],
    values: Sequence[Any],
) -> list[Tensor]:
    """Copies a graph into the graph that is being built, over other inputs."""
    proto = source.as_graph_def()
    inputs = {tensor.op.name for tensor in arguments}
    kept = [node for node in proto.node if node.name not in inputs]
    del proto.node[:]
    proto.node.extend(kept)
    options = imports.Options(
        prefix=(get_default_graph().get_name_scope() or "").removesuffix("/"),
        uniquify_names=True,
        input_map={
            tensor.name: value for tensor, value in zip(arguments, values, strict=True)
        },
        return_outputs=[(t.op.name, t.value_index) for t in results],
    )
    return imports.import_graph(get_default_graph(), proto, options).outputs
