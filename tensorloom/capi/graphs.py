"""Graphs: static shapes, operations by name and in order, and messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tensorloom.framework.errors import InvalidArgumentError
from tensorloom.framework.graph.dataflow_graph import Graph
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.registry import op_def_proto
from tensorloom.framework.types import constant_value as constants
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation


class ProgramGraph(Graph):
    """A graph that a program in another language builds.

    A bad name is found out when a session runs the graph, and an attr that no step
    takes when its operation runs: until then the graph may be read, or become a
    function, of whose body they may be part.
    """

    def __init__(self) -> None:
        super().__init__()
        self.bad_name: str | None = None  # the first
        self.refused: dict[Operation, str] = {}  # by any step, and why


def new_graph() -> Graph:
    """An empty graph."""
    return ProgramGraph()


def check_names(graph: Graph) -> None:
    """Raises InvalidArgumentError if an operation has a name that no session takes."""
    name = graph.bad_name if isinstance(graph, ProgramGraph) else None
    if name is not None:
        message = f"Node '{name}': Node name contains invalid characters"
        raise InvalidArgumentError(None, None, message)


def check_step(
    graph: Graph, feeds: Iterable[Tensor], wanted: Iterable[Tensor | Operation]
) -> None:
    """Raises InvalidArgumentError if a session refuses the graph or a step of it."""
    check_names(graph)
    refused = graph.refused if isinstance(graph, ProgramGraph) else {}
    if not refused:
        return
    fed = set(feeds)
    seen: set[Operation] = set()
    waiting = [each for each in wanted if each not in fed]
    while waiting:
        each = waiting.pop()
        op = each.op if isinstance(each, Tensor) else each
        if op in seen:
            continue
        if op in refused:
            raise InvalidArgumentError(None, None, refused[op])
        seen.add(op)
        waiting += [tensor for tensor in op.inputs if tensor not in fed]
        waiting += op.control_inputs


def facts(op: Operation) -> tuple[str, str, str, tuple[int, ...]]:
    """Name, type, device and the numbers of the outputs' dtypes."""
    types = tuple(tensor.dtype.as_datatype_enum for tensor in op.outputs)
    return op.name, op.type, op.device, types


def place_of(tensor: Tensor) -> tuple[Operation, int]:
    """The operation that a tensor is an output of, and which one."""
    return tensor.op, tensor.value_index


def check_in(graph: Graph, tensor: Tensor) -> None:
    """Raises InvalidArgumentError if a tensor is of another graph."""
    if tensor.graph is not graph:
        raise InvalidArgumentError(
            None, None, f"Node {tensor.op.name} was not found in the graph"
        )


def set_shape(graph: Graph, tensor: Tensor, dims: list[int] | None) -> None:
    """Merges a shape into the static shape of a tensor; -1 is an unknown size.

    Raises:
      InvalidArgumentError: the tensor is of another graph.
      ValueError: the shapes contradict each other.
    """
    check_in(graph, tensor)
    tensor.set_shape(shape_of(dims))


def shape_of(dims: list[int] | None) -> TensorShape:
    """The shape with these sizes, -1 for those unknown, None for an unknown rank."""
    if dims is None:
        return TensorShape(None)
    if any(size < -1 for size in dims):
        raise InvalidArgumentError(None, None, f"Shape {dims} has a dimension below -1")
    return TensorShape([None if size < 0 else size for size in dims])


def dims_of(shape: TensorShape) -> list[int] | None:
    """The sizes of a shape, -1 for those unknown; None for an unknown rank."""
    dims = shape.dims_tuple
    return None if dims is None else [-1 if size is None else size for size in dims]


def shape(graph: Graph, tensor: Tensor) -> list[int] | None:
    """The static shape of a tensor, as `dims_of`.

    Raises:
      InvalidArgumentError: the tensor is of another graph.
    """
    check_in(graph, tensor)
    return dims_of(tensor.shape)


def operation_by_name(graph: Graph, name: bytes) -> Operation | None:
    """The operation of that name, or None."""
    return graph._by_name.get(name.decode("utf-8", "replace"))


def operation_at(graph: Graph, place: int) -> Operation | None:
    """The operation at a place in the order of their making; None past the last."""
    operations = graph._operations
    return operations[place] if 0 <= place < len(operations) else None


def constant_value(graph: Graph, tensor: Tensor) -> Any:
    """The value of a tensor that depends on constants alone, or None.

    Raises:
      InvalidArgumentError: the tensor is of another graph.
    """
    check_in(graph, tensor)
    return constants.evaluate(tensor)


def graph_def(graph: Graph) -> bytes:
    """The serialized GraphDef.

    Raises:
      ValueError: it is too large for a message.
    """
    serialized: bytes = graph.as_graph_def().SerializeToString()
    return serialized


def versions(graph: Graph) -> bytes:
    """The serialized VersionDef."""
    serialized: bytes = graph.graph_def_versions.SerializeToString()
    return serialized


def op_def(graph: Graph, name: str) -> bytes:
    """The serialized OpDef of an op, or of a function of the graph.

    Raises:
      NotFoundError: there is none.
    """
    return op_def_proto.to_proto(graph._get_op_def(name)).SerializeToString()
