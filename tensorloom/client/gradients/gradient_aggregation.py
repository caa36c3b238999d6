"""Adding up the gradients that reach one tensor along several paths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.runtime.scopes import name_scope
from tensorloom.framework.types.dtypes import int32, int64
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import concat as concat_ops
from tensorloom.ops.indexing import gather as gather_ops
from tensorloom.ops.math import cast as math_ops_cast

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation


@export("AggregationMethod")
class AggregationMethod:
    """How several gradients of one tensor are added up.

    ADD_N (the default) adds all with one `AddN`; EXPERIMENTAL_TREE adds them one after
    the other, so that each can be released early; EXPERIMENTAL_ACCUMULATE_N uses
    `AccumulateNV2` for three or more of known shape, and otherwise the tree.
    """

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


_METHODS = (
    AggregationMethod.ADD_N,
    AggregationMethod.EXPERIMENTAL_TREE,
    AggregationMethod.EXPERIMENTAL_ACCUMULATE_N,
)


def check_method(method: int | None) -> int:
    """The aggregation method, the default one for None.

    Raises:
      ValueError: there is no such method.
    """
    if method is None:
        return AggregationMethod.DEFAULT
    if method not in _METHODS:
        raise ValueError(f"Invalid aggregation_method specified {method}.")
    return method


def aggregate(gradients: list[Any], op: Operation, method: int) -> Any:
    """The sum of the gradients of one output of `op`.

    Args:
      gradients: Tensors and IndexedSlices; None entries count as nothing.

    Raises:
      TypeError: one is neither.
    """
    for gradient in gradients:
        if gradient is not None and not isinstance(gradient, (Tensor, IndexedSlices)):
            raise TypeError(
                "gradients have to be either all Tensors or all IndexedSlices"
            )
    if len(gradients) == 1:
        _count_sum_of_parts(gradients[0])
        return gradients[0]
    if any(isinstance(g, IndexedSlices) for g in gradients):
        return add_indexed_slices([g for g in gradients if g is not None])
    if method == AggregationMethod.ADD_N:
        return _add_by_device(gradients)
    if method == AggregationMethod.EXPERIMENTAL_ACCUMULATE_N and len(gradients) > 2:
        shape = _common_shape(gradients)
        if shape.is_fully_defined():
            return _accumulate_n(gradients, shape)
    return _add_in_pairs(gradients, op)


def set_parts(gradient: Any, parts: int) -> None:
    """Notes that TensorFlow has so many gradients where we have one."""
    if parts > 1:
        tensor = gradient.values if isinstance(gradient, IndexedSlices) else gradient
        tensor.op.__dict__["_gradient_parts"] = parts


def _count_sum_of_parts(gradient: Any) -> None:
    """Counts the nodes that add up what reaches TensorFlow in several parts."""
    if isinstance(gradient, IndexedSlices):
        tensor, nodes = gradient.values, 4  # values and indices: an axis, ConcatV2
    else:
        tensor, nodes = gradient, 1  # AddN
    if tensor is not None and tensor.op.__dict__.pop("_gradient_parts", 0):
        get_default_graph()._node_count.value += nodes


def add_n(tensors: list[Any]) -> Tensor:
    """The sum of tensors; IndexedSlices among them are made dense."""
    if len(tensors) == 1:
        only: Tensor = tensors[0]
        return only
    total: Tensor = apply_op("AddN", inputs=tensors)
    return total


def _add_by_device(gradients: list[Any]) -> Tensor:
    """First the gradients of each device on that device, then the partial sums."""
    by_device: dict[str, list[Tensor]] = {}
    for gradient in gradients:
        by_device.setdefault(gradient.device or "", []).append(gradient)
    graph = gradients[0].graph
    sums = []
    for device in sorted(by_device):
        group = by_device[device]
        if len(group) == 1:
            sums.append(group[0])
            continue
        with graph.colocate_with(group[0].op, ignore_existing=True):
            sums.append(add_n(group))
    return add_n(sums)


def _add_in_pairs(gradients: list[Any], op: Operation) -> Tensor:
    with name_scope(op.name + "_gradient_sum"):
        total: Tensor = gradients[0]
        for gradient in gradients[1:]:
            total = add_n([total, gradient])
    return total


def _common_shape(tensors: list[Any]) -> TensorShape:
    shape = TensorShape.of(None)
    for tensor in tensors:
        shape = shape.merge_with(tensor.shape)
    return shape


def _accumulate_n(tensors: list[Any], shape: TensorShape) -> Tensor:
    total: Tensor = apply_op("AccumulateNV2", inputs=tensors, shape=shape)
    return total


def add_indexed_slices(gradients: list[Any]) -> Any:
    """The sum of gradients of which at least one is IndexedSlices.

    A dense gradient among them makes the sum dense; otherwise the slices are put one
    behind the other.
    """
    if len(gradients) == 1:
        return gradients[0]
    if any(isinstance(g, Tensor) for g in gradients):
        return add_n(gradients)
    slices = [_unnested(g) for g in _with_equal_index_types(gradients)]
    return IndexedSlices(
        _concat([s.values for s in slices]),
        _concat([s.indices for s in slices]),
        slices[0].dense_shape,
    )


def _concat(tensors: list[Any]) -> Tensor:
    joined: Tensor = concat_ops.concat(tensors, axis=0)
    return joined


def _with_equal_index_types(slices: list[IndexedSlices]) -> list[IndexedSlices]:
    """The same slices, with int64 indices where they are not all int32."""
    if all(s.indices.dtype == int32 for s in slices):
        return slices
    return [
        IndexedSlices(s.values, math_ops_cast.cast(s.indices, int64), s.dense_shape)
        if s.indices.dtype == int32
        else s
        for s in slices
    ]


def _unnested(slices: IndexedSlices) -> IndexedSlices:
    """Slices whose values are slices themselves, as one level of slices."""
    if not isinstance(slices.values, IndexedSlices):
        return slices
    inner = _unnested(slices.values)
    return IndexedSlices(
        inner.values,
        gather_ops.gather(slices.indices, inner.indices),
        inner.dense_shape,
    )
