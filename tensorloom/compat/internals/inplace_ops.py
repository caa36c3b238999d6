"""`inplace_ops`: rows of a tensor replaced, or added to.

Values never change, so each function gives a new tensor; a program that uses only what
these return, as TensorFlow asks of it, sees no difference.
"""

from __future__ import annotations

from typing import Any

from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.identity import identity
from tensorloom.ops.array.reshape import expand_dims, reshape
from tensorloom.ops.array.shape import shape


def _rows(op: str, x: Any, i: Any, v: Any) -> Any:
    x = convert_to_tensor(x)
    v = convert_to_tensor(v, dtype=x.dtype)
    if i is None:  # all of x is the one row
        flat = apply_op(op, x=reshape(x, [1, -1]), i=[0], v=reshape(v, [1, -1]))
        return reshape(flat, shape(x))
    i = convert_to_tensor(i, dtype=dtypes.int32)
    if i.shape.rank == 0:
        return apply_op(op, x=x, i=reshape(i, [1]), v=expand_dims(v, 0))
    return apply_op(op, x=x, i=i, v=v)


def alias_inplace_update(x: Any, i: Any, v: Any) -> Any:
    """`x` with `v` in place of row i, of rows i, or, where i is None, of all of it."""
    return _rows("InplaceUpdate", x, i, v)


def alias_inplace_add(x: Any, i: Any, v: Any) -> Any:
    """`x` with `v` added to row i, to rows i, or, where i is None, to all of it."""
    return _rows("InplaceAdd", x, i, v)


def alias_inplace_sub(x: Any, i: Any, v: Any) -> Any:
    """`x` less `v` in row i, in rows i, or, where i is None, in all of it."""
    return _rows("InplaceSub", x, i, v)


def inplace_update(x: Any, i: Any, v: Any) -> Any:
    """`alias_inplace_update` of a copy."""
    return alias_inplace_update(identity(x), i, v)


def inplace_add(x: Any, i: Any, v: Any) -> Any:
    """`alias_inplace_add` of a copy."""
    return alias_inplace_add(identity(x), i, v)


def inplace_sub(x: Any, i: Any, v: Any) -> Any:
    """`alias_inplace_sub` of a copy."""
    return alias_inplace_sub(identity(x), i, v)


def empty_like(x: Any, init: bool | None = None) -> Any:
    """A tensor of the shape and dtype of `x`; zeros if `init`, else anything."""
    x = convert_to_tensor(x)
    return apply_op("Empty", shape=shape(x), dtype=x.dtype, init=bool(init))
