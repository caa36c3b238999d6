"""The shapes that hold for a loop variable in all iterations.

They are those that it starts with, or what the program declares as `shape_invariants`:
a shape or a spec. How many values a sparse or a ragged variable has may always change.
"""

from __future__ import annotations

from typing import Any

from tensorloom.client.control_flow.control_flow_values import to_tensor
from tensorloom.framework.types.composite_tensor import CompositeTensor
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_shape import TensorShape, as_shape
from tensorloom.ops.ragged.ragged_tensor import RaggedTensor


def invariant_shapes(value: Any, declared: Any = None) -> list[TensorShape]:
    """The shapes of the tensors that a loop variable consists of.

    Args:
      value: what the variable starts with.
      declared: a shape, a TypeSpec, or None for the shape that it starts with.

    Raises:
      TypeError: the spec is of another kind of value.
      ValueError: the variable does not start with the shape.
    """
    if not isinstance(value, CompositeTensor):
        return [_tensor_shape(value, declared)]
    if declared is None:
        return _shapes_of_parts(value, _own_shape(value))
    if _is_spec(declared):
        shape = _shape_of_spec(declared, value)
        if not shape.is_compatible_with(_own_shape(value)):
            raise TypeError(f"TypeSpec {declared!r} is not compatible with {value!r}")
    else:
        shape = as_shape(declared)
        if isinstance(value, SparseTensor):
            shape = _of_rank(shape)
    shapes = _shapes_of_parts(value, shape)
    for part, wanted in zip(value.composite_parts(), shapes, strict=True):
        _check_start(part.name, part.shape, wanted)
    return shapes


def is_within(shape: TensorShape, invariant: TensorShape) -> bool:
    """True when every tensor of `shape` is allowed by the invariant."""
    dims, allowed = shape.dims_tuple, invariant.dims_tuple
    if allowed is None or dims == allowed:
        return True
    if dims is None or len(dims) != len(allowed):
        return False
    return all(a is None or a == d for d, a in zip(dims, allowed, strict=True))


def _tensor_shape(value: Any, declared: Any) -> TensorShape:
    tensor = to_tensor(value)
    start: TensorShape = tensor.shape
    if declared is None:
        return start
    is_spec = _is_spec(declared)
    shape = _shape_of_spec(declared, tensor) if is_spec else as_shape(declared)
    _check_start(tensor.name, start, shape)
    return shape


def _check_start(name: str, start: TensorShape, shape: TensorShape) -> None:
    if not is_within(start, shape):
        raise ValueError(
            f"The shape invariant specified for {name} is not compatible with "
            "the initial shape of the loop variable. It enters the loop with shape "
            f"{start}, but the specified shape invariant is {shape}."
        )


def _is_spec(declared: Any) -> bool:
    # The classes are the data library's, which stands on the client.
    return hasattr(declared, "value_type")


def _shape_of_spec(spec: Any, value: Any) -> TensorShape:
    if not isinstance(value, spec.value_type) or spec._dtype != value.dtype.base_dtype:
        raise TypeError(f"TypeSpec {spec!r} is not compatible with {value!r}")
    shape: TensorShape = spec._shape
    return shape


def _of_rank(shape: TensorShape) -> TensorShape:
    """What the declared shape of the shape of a sparse tensor says of its own shape."""
    if shape.rank not in (1, None):
        raise ValueError("Expected a shape with 1 dimension")
    rank = shape.dims_tuple[0] if shape.dims_tuple else None
    return TensorShape.of(None if rank is None else (None,) * rank)


def _own_shape(value: Any) -> TensorShape:
    shape: TensorShape = (
        value.values.shape if isinstance(value, IndexedSlices) else value.shape
    )
    return shape


def _shapes_of_parts(value: Any, shape: TensorShape) -> list[TensorShape]:
    """The shapes of the components of a value of that shape."""
    if isinstance(value, SparseTensor):
        rank = shape.rank
        return [TensorShape.of((None, rank)), TensorShape.of((None,)), _vector(rank)]
    dims = shape.dims_tuple
    count = dims[0] if dims else None
    if isinstance(value, RaggedTensor):
        rank = value.ragged_rank
        if shape.rank is not None and rank >= shape.rank:
            raise ValueError("ragged_rank must be less than rank.")
        values = TensorShape.of((None,)).concatenate(shape[rank + 1 :])
        splits = _vector(None if count is None else count + 1)
        return [values, splits, *[_vector(None)] * (rank - 1)]
    if isinstance(value, IndexedSlices):
        parts = [shape, _vector(count), _vector(shape.rank)]
        return parts[: len(value.composite_parts())]
    return [part.shape for part in value.composite_parts()]


def _vector(length: int | None) -> TensorShape:
    return TensorShape.of((length,))
