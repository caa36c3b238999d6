"""Sparse sequences on their way through a state saver, which holds dense tensors only.

A sparse sequence becomes a vector of handles into a `SparseTensorsMap`, one a step, and
comes back from the handles of a batch, [batch, num_unroll]. A sparse context becomes a
sparse sequence that has it at the first step of each segment.
"""

from __future__ import annotations

from typing import Any

from tensorloom.framework.graph.graph import colocate_with
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor, SparseTensorValue
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.pad import tile
from tensorloom.ops.array.reshape import expand_dims, reshape
from tensorloom.ops.array.shape import shape as shape_op
from tensorloom.ops.array.stack import stack
from tensorloom.ops.math.binary import floormod
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.sequence import range as range_op
from tensorloom.ops.sparse.shape_builders import sparse_reshape

_CONTEXT = "_context_in_seq_"


def is_sparse(value: Any) -> bool:
    """Whether it is a sparse tensor, or the value of one."""
    return isinstance(value, SparseTensor | SparseTensorValue)


def context_into_sequences(
    context: dict[str, Any], sequences: dict[str, Any], unroll: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The two with sparse contexts among the sequences."""
    steps: Any = constant(1)
    if sequences:
        first = next(iter(sequences.values()))
        steps = first.dense_shape[0] if is_sparse(first) else shape_op(first)[0]
    steps = cast(steps, dtypes.int64)
    moved = {
        _CONTEXT + name: _at_segments(context[name], steps, unroll)
        for name in sorted(context)
        if is_sparse(context[name])
    }
    kept = {name: value for name, value in context.items() if not is_sparse(value)}
    return kept, {**sequences, **moved}


def _at_segments(sparse: Any, steps: Any, unroll: int) -> SparseTensor:
    """A sequence with the tensor at steps 0, unroll, 2 * unroll, ..."""
    count = cast(steps // unroll, dtypes.int32)
    rows = shape_op(sparse.indices)[0]
    begins = range_op(start=0, limit=steps, delta=unroll)
    begins = tile(reshape(begins, [-1, 1, 1]), [1, rows, 1])
    copies = tile(expand_dims(sparse.indices, 0), stack([count, 1, 1]))
    indices = reshape(
        concat([begins, copies], 2),
        [rows * count, shape_op(sparse.indices)[1] + 1],
    )
    return SparseTensor(
        indices=indices,
        values=tile(sparse.values, expand_dims(count, 0)),
        dense_shape=concat([expand_dims(steps, 0), sparse.dense_shape], 0),
    )


def context_from_sequences(context: dict[str, Any], sequences: dict[str, Any]) -> None:
    """Moves sparse contexts of a batch back to where they belong."""
    for key in sorted(sequences):
        if not key.startswith(_CONTEXT):
            continue
        sparse = sequences.pop(key)
        batch = expand_dims(sparse.dense_shape[0], 0)
        rest = sparse.dense_shape[2:]
        one = cast([1], dtypes.int64)
        first = SparseTensor(
            sparse.indices, sparse.values, concat([batch, one, rest], 0)
        )
        context[key.removeprefix(_CONTEXT)] = sparse_reshape(
            first, concat([batch, rest], 0)
        )


def stored(sequences: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The sequences with handles for sparse ones, and the ops that gave them."""
    result = dict(sequences)
    ops = {}
    for name in sorted(sequences):
        if is_sparse(sequences[name]):
            sparse = sequences[name]
            result[name] = apply_op(
                "AddManySparseToTensorsMap",
                sparse_indices=sparse.indices,
                sparse_values=sparse.values,
                sparse_shape=sparse.dense_shape,
            )
            ops[name] = (result[name].op, sparse.values.dtype)
    return result, ops


def restored(
    sequences: dict[str, Any], ops: dict[str, Any], batch_size: Any, unroll: int
) -> None:
    """Puts sparse tensors [batch, unroll, ...] in the place of handles."""
    for name, (op, dtype) in ops.items():
        with colocate_with(op):
            indices, values, shape = apply_op(
                "TakeManySparseFromTensorsMap",
                sparse_handles=reshape(sequences[name], [-1]),
                dtype=dtype,
                shared_name=op.name,
            )
        step = cast(unroll, dtypes.int64)
        sequences[name] = SparseTensor(
            indices=concat(
                [
                    expand_dims(indices[:, 0] // step, 1),
                    expand_dims(floormod(indices[:, 0], step), 1),
                    indices[:, 1:],
                ],
                axis=1,
            ),
            values=values,
            dense_shape=concat(
                [cast(stack([batch_size, unroll]), dtypes.int64), shape[1:]], axis=0
            ),
        )
