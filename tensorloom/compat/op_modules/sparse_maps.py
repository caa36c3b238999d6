"""Sparse tensors by way of a map: private functions of TensorFlow's `sparse_ops`."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.graph.graph import colocate_with
from tensorloom.framework.graph.operation import Operation
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types.sparse_tensor import SparseTensor, SparseTensorValue

_ADDING = "AddSparseToTensorsMap", "AddManySparseToTensorsMap"


def add_sparse_to_tensors_map(
    sp_input: SparseTensor,
    container: str | None = None,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Puts a sparse tensor into a map; its int64 handle."""
    return _add(_ADDING[0], sp_input, container, shared_name, name)


def add_many_sparse_to_tensors_map(
    sp_input: SparseTensor,
    container: str | None = None,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Puts the rows of a sparse tensor into a map; their int64 handles [rows]."""
    return _add(_ADDING[1], sp_input, container, shared_name, name)


def _add(
    op: str,
    sp_input: Any,
    container: str | None,
    shared_name: str | None,
    name: str | None,
) -> Any:
    if isinstance(sp_input, SparseTensorValue):
        sp_input = SparseTensor(*sp_input)
    if not isinstance(sp_input, SparseTensor):
        raise TypeError(f"Input must be a SparseTensor, not {sp_input!r}")
    return apply_op(
        op,
        name,
        sparse_indices=sp_input.indices,
        sparse_values=sp_input.values,
        sparse_shape=sp_input.dense_shape,
        container=container or "",
        shared_name=shared_name or "",
    )


def take_many_sparse_from_tensors_map(
    sparse_map_op: Operation,
    sparse_handles: Any,
    rank: int | None = None,
    name: str | None = None,
) -> SparseTensor:
    """Takes sparse tensors out of the map that an operation put them into.

    Args:
      sparse_map_op: the operation that gave the handles.
      sparse_handles: int64 [n].
      rank: of the result, whose first dimension is n.
      name: of the new operation.

    Raises:
      TypeError: it is another operation.
    """
    if not isinstance(sparse_map_op, Operation):
        raise TypeError("sparse_map_op be an Operation")
    if sparse_map_op.type not in _ADDING:
        raise TypeError(
            f"sparse_map_op must be one of {_ADDING[0]} or {_ADDING[1]}. Instead, "
            f"found `{sparse_map_op.type}`."
        )
    with colocate_with(sparse_map_op):
        indices, values, shape = apply_op(
            "TakeManySparseFromTensorsMap",
            name,
            sparse_handles=sparse_handles,
            dtype=sparse_map_op.get_attr("T"),
            container=sparse_map_op.get_attr("container"),
            shared_name=sparse_map_op.get_attr("shared_name") or sparse_map_op.name,
        )
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)
