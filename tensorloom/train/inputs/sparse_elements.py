"""Sparse tensors in queues: a queue holds handles, a map of the step holds tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.graph.graph import Operation, Tensor, colocate_with
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.array import constant as constant_op
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.sparse import sparse_builders

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType


@dataclass(frozen=True)
class _Map:
    """Where the tensors of one component are kept until their batch is taken."""

    op: Operation  # that gives the handles
    name: str
    dtype: DType
    rank: int | None  # of an element


class SparseElements:
    """Puts handles in the place of sparse tensors, and takes the tensors back.

    Args:
      enqueue_many: the tensors hold several elements along dimension 0.
      keep: whether an element is kept: a scalar, or a vector.
    """

    def __init__(self, enqueue_many: bool, keep: Tensor) -> None:
        self._enqueue_many = enqueue_many
        self._keep = keep
        # For each component: where it is kept; or None for a dense one.
        self._stored: list[_Map | None] = []

    def store_all(self, lists: list[list[Any]]) -> list[list[Tensor]]:
        """The lists with a vector or column of handles for each sparse tensor.

        Raises:
          ValueError: the lists differ in which components are sparse.
        """
        stored = [self._store_list(lists[0], first=True)]
        kinds = [isinstance(x, SparseTensor) for x in lists[0]]
        for tensors in lists[1:]:
            if [isinstance(x, SparseTensor) for x in tensors] != kinds:
                raise ValueError(
                    f"Inconsistent SparseTensors list: {lists[0]} vs. {tensors}"
                )
            stored.append(self._store_list(tensors, first=False))
        return stored

    def _store_list(self, tensors: list[Any], first: bool) -> list[Tensor]:
        handles = []
        for i, tensor in enumerate(tensors):
            if not isinstance(tensor, SparseTensor):
                handles.append(tensor)
                if first:
                    self._stored.append(None)
                continue
            earlier = None if first else self._stored[i]
            name = earlier.name if earlier else self._map_name()
            handle = self._store(tensor, name)
            if first:
                self._stored.append(self._map(tensor, handle, name))
            handles.append(handle)
        return [
            array_ops.expand_dims(handle, [-1])
            if isinstance(tensor, SparseTensor)
            else handle
            for tensor, handle in zip(tensors, handles, strict=True)
        ]

    def _rank(self, tensor: SparseTensor) -> int | None:
        dims = tensor.dense_shape.shape.with_rank(1).as_list()
        rank: int | None = dims[0]
        return rank - 1 if rank is not None and self._enqueue_many else rank

    def _map_name(self) -> str | None:
        """The name of a new map; None: the name of the operation that stores.

        That operation may be in a function, where nobody can name it: then the map has
        a name of its own.
        """
        if self._enqueue_many and self._keep.shape.rank == 1:
            return None
        if constant_value(self._keep) is not None:
            return None
        return get_default_graph().unique_name("sparse_map")

    def _map(self, tensor: SparseTensor, handle: Tensor, name: str | None) -> _Map:
        rank = self._rank(tensor)
        return _Map(handle.op, name or handle.op.name, tensor.dtype, rank)

    def _store(self, tensor: SparseTensor, name: str | None) -> Tensor:
        if self._keep.shape.rank == 1:
            rows = tensor.indices[:, 0]
            kept = sparse_builders.sparse_retain(
                tensor, array_ops.gather(self._keep, rows)
            )
            return _add(kept, name, many=True)
        if self._enqueue_many:
            handles = self._if_kept(
                lambda: _add(tensor, name, many=True),
                lambda: -1 * array_ops.ones(array_ops.shape(tensor)[0:1], dtypes.int64),
            )
            handles.set_shape([None])
            return handles
        return self._if_kept(
            lambda: _add(tensor, name, many=False),
            lambda: constant_op.constant(-1, dtypes.int64),
        )

    def _if_kept(self, store: Any, otherwise: Any) -> Tensor:
        known = constant_value(self._keep)
        if known is None:
            result: Tensor = cond(self._keep, store, otherwise)
            return result
        chosen: Tensor = store() if known else otherwise()
        return chosen

    def restore(self, dequeued: Any) -> Any:
        """The batch with sparse tensors in the place of their handles."""
        if not any(self._stored):
            return dequeued
        is_list = isinstance(dequeued, list | tuple)
        tensors = [
            value if stored is None else _take(stored, value)
            for value, stored in zip(
                dequeued if is_list else [dequeued], self._stored, strict=True
            )
        ]
        # All handles are taken whenever one of the tensors is asked for: else the map
        # would keep what nobody takes.
        everything = [x.values if isinstance(x, SparseTensor) else x for x in tensors]
        ensured = [_with(everything, tensor) for tensor in tensors]
        return ensured if is_list else ensured[0]


def _add(tensor: SparseTensor, shared_name: str | None, many: bool) -> Tensor:
    handle: Tensor = apply_op(
        "AddManySparseToTensorsMap" if many else "AddSparseToTensorsMap",
        sparse_indices=tensor.indices,
        sparse_values=tensor.values,
        sparse_shape=tensor.dense_shape,
        shared_name=shared_name or "",
    )
    return handle


def _take(stored: _Map, handles: Tensor) -> SparseTensor:
    with colocate_with(stored.op):
        indices, values, shape = apply_op(
            "TakeManySparseFromTensorsMap",
            sparse_handles=array_ops.squeeze(handles, [1]),
            dtype=stored.dtype,
            shared_name=stored.name,
        )
    rank = stored.rank
    # The batch dimension comes before those of an element.
    known = None if rank is None else rank + 1
    indices.set_shape([None, known])
    shape.set_shape([known])
    return SparseTensor(indices, values, shape)


def _with(everything: list[Tensor], value: Any) -> Any:
    if not isinstance(value, SparseTensor):
        return control_flow_ops.with_dependencies(everything, value)
    indices, values, shape = (
        control_flow_ops.with_dependencies(everything, part)
        for part in (value.indices, value.values, value.dense_shape)
    )
    return SparseTensor(indices=indices, values=values, dense_shape=shape)
