"""Builders that update rows or index vectors of a variable: `tf.scatter_add`, ..."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types.tensor_conversion import convert_to_tensor


def _scatter(
    kind: str, ref: Any, indices: Any, updates: Any, use_locking: bool, name: str | None
) -> Any:
    """`kind` is the op's name after "Scatter": "Add", "NdUpdate", ..."""
    if ref.dtype._is_ref_dtype:
        return apply_op(
            f"Scatter{kind}",
            ref=ref,
            indices=indices,
            updates=updates,
            use_locking=use_locking,
            name=name,
        )
    return ref._lazy_read(resource_scatter(kind, ref, indices, updates, name))


def resource_scatter(
    kind: str, variable: Any, indices: Any, updates: Any, name: str | None = None
) -> Any:
    """The operation that scatters into a resource variable."""
    updates = convert_to_tensor(updates, variable.dtype)
    handle = "ref" if kind.startswith("Nd") else "resource"
    return apply_op(
        f"ResourceScatter{kind}",
        **{handle: variable.handle},
        indices=indices,
        updates=updates,
        name=name,
    )


@export("scatter_update")
def scatter_update(
    ref: Any,
    indices: Any,
    updates: Any,
    use_locking: bool = True,
    name: str | None = None,
) -> Any:
    """`ref[indices[i], ...] = updates[i, ...]`; gives the updated variable.

    Args:
      ref: a variable of shape [n, ...].
      indices: int32 or int64, of any shape, each in [0, n).
      updates: `indices.shape + ref.shape[1:]`, or a scalar.
    """
    return _scatter("Update", ref, indices, updates, use_locking, name)


@export("scatter_add")
def scatter_add(
    ref: Any,
    indices: Any,
    updates: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> Any:
    """`ref[indices[i], ...] += updates[i, ...]`; shapes as in `scatter_update`."""
    return _scatter("Add", ref, indices, updates, use_locking, name)


@export("scatter_sub")
def scatter_sub(
    ref: Any,
    indices: Any,
    updates: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> Any:
    """`ref[indices[i], ...] -= updates[i, ...]`; shapes as in `scatter_update`."""
    return _scatter("Sub", ref, indices, updates, use_locking, name)


@export("scatter_mul")
def scatter_mul(
    ref: Any,
    indices: Any,
    updates: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> Any:
    """`ref[indices[i], ...] *= updates[i, ...]`; shapes as in `scatter_update`."""
    return _scatter("Mul", ref, indices, updates, use_locking, name)


@export("scatter_div")
def scatter_div(
    ref: Any,
    indices: Any,
    updates: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> Any:
    """`ref[indices[i], ...] /= updates[i, ...]`; shapes as in `scatter_update`."""
    return _scatter("Div", ref, indices, updates, use_locking, name)


@export("scatter_min")
def scatter_min(
    ref: Any,
    indices: Any,
    updates: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> Any:
    """Rows become the minimum with updates; shapes as in `scatter_update`."""
    return _scatter("Min", ref, indices, updates, use_locking, name)


@export("scatter_max")
def scatter_max(
    ref: Any,
    indices: Any,
    updates: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> Any:
    """Rows become the maximum with updates; shapes as in `scatter_update`."""
    return _scatter("Max", ref, indices, updates, use_locking, name)


@export("scatter_nd_update")
def scatter_nd_update(
    ref: Any,
    indices: Any,
    updates: Any,
    use_locking: bool = True,
    name: str | None = None,
) -> Any:
    """`ref[indices[i]] = updates[i]` for index vectors; gives the updated variable.

    Args:
      ref: a variable of rank r.
      indices: int32 or int64 [..., k] with k <= r.
      updates: `indices.shape[:-1] + ref.shape[k:]`.
    """
    return _scatter("NdUpdate", ref, indices, updates, use_locking, name)


@export("scatter_nd_add")
def scatter_nd_add(
    ref: Any,
    indices: Any,
    updates: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> Any:
    """`ref[indices[i]] += updates[i]`; shapes as in `scatter_nd_update`."""
    return _scatter("NdAdd", ref, indices, updates, use_locking, name)


@export("scatter_nd_sub")
def scatter_nd_sub(
    ref: Any,
    indices: Any,
    updates: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> Any:
    """`ref[indices[i]] -= updates[i]`; shapes as in `scatter_nd_update`."""
    return _scatter("NdSub", ref, indices, updates, use_locking, name)


@export("batch_scatter_update")
def batch_scatter_update(
    ref: Any,
    indices: Any,
    updates: Any,
    use_locking: bool = True,
    name: str | None = None,
) -> Any:
    """`scatter_update` along the last dimension of `indices`, batched over the rest.

    Raises:
      ValueError: the rank of `indices` is unknown.
    """
    from tensorloom.ops.array import array_ops
    from tensorloom.ops.math import math_ops

    with name_scope(name):
        indices = convert_to_tensor(indices, name="indices")
        indices_shape = array_ops.shape(indices)
        rank = indices.get_shape().ndims
        if rank is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        nd_indices = array_ops.expand_dims(indices, axis=-1)
        parts = []
        for dimension in range(rank - 1):
            size = indices_shape[dimension]
            broadcast: list[Any] = [1] * (rank + 1)
            broadcast[dimension] = size
            counts = array_ops.reshape(
                apply_op("Range", start=0, limit=size, delta=1), broadcast
            )
            if counts.dtype.base_dtype != nd_indices.dtype:
                counts = math_ops.cast(counts, nd_indices.dtype)
            parts.append(counts * array_ops.ones_like(nd_indices))
        parts.append(nd_indices)
        final = array_ops.concat(parts, axis=-1)
        return scatter_nd_update(ref, final, updates, use_locking=use_locking)
