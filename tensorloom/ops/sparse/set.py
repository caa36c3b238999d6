"""Sets in the innermost rows of tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import (
    SparseTensor,
    convert_to_tensor_or_sparse_tensor,
)
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.sparse.shape_functions import check_sparse, new_sparse, rank_of

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext

_TYPES: Final = "{int8, int16, int32, int64, uint8, uint16, string}"
_VALID: Final = frozenset(
    {
        *(dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64),
        *(dtypes.uint8, dtypes.uint16, dtypes.string),
    }
)


def _dense_shape(c: InferenceContext) -> list[TensorShape]:
    first, second = (c.with_rank_at_least(i, 2) for i in range(2))
    if first.rank is None:
        return new_sparse(second.rank)
    if second.rank is not None:
        c.merge(first[:-1], c.with_rank(1, first.rank)[:-1])
    return new_sparse(first.rank)


def _mixed_shape(c: InferenceContext) -> list[TensorShape]:
    _check_set(c, 1)
    rank = c.with_rank_at_least(0, 2).rank
    return new_sparse(c.merge_dim(rank, rank_of(c, 3)))


def _sparse_shape(c: InferenceContext) -> list[TensorShape]:
    _check_set(c, 0)
    _check_set(c, 3)
    return new_sparse(c.merge_dim(rank_of(c, 2), rank_of(c, 5)))


def _check_set(c: InferenceContext, first: int) -> None:
    """Indices, values and the shape of one sparse tensor, from input `first` on."""
    check_sparse(c, first)
    indices, values, shape = (c.input_shape(first + i).dims_tuple for i in range(3))
    if indices is None:
        return
    if values is not None and _differ(indices[0], values[0]):
        c.fail(
            f"Number of elements in index ({indices[0]}) and values ({values[0]}) do "
            "not match."
        )
    if shape is not None and _differ(indices[1], shape[0]):
        c.fail(f"Index rank ({indices[1]}) and shape rank ({shape[0]}) do not match.")


def _differ(a: int | None, b: int | None) -> bool:
    return a is not None and b is not None and a != b


def _size_shape(c: InferenceContext) -> TensorShape:
    return TensorShape.of(None)


for _op, _inputs, _shape in (
    ("DenseToDenseSetOperation", ("set1: T", "set2: T"), _dense_shape),
    (
        "DenseToSparseSetOperation",
        ("set1: T", "set2_indices: int64", "set2_values: T", "set2_shape: int64"),
        _mixed_shape,
    ),
    (
        "SparseToSparseSetOperation",
        (
            *("set1_indices: int64", "set1_values: T", "set1_shape: int64"),
            *("set2_indices: int64", "set2_values: T", "set2_shape: int64"),
        ),
        _sparse_shape,
    ),
):
    register_op(
        _op,
        inputs=_inputs,
        outputs=["result_indices: int64", "result_values: T", "result_shape: int64"],
        attrs=[
            "set_operation: string",
            "validate_indices: bool = true",
            f"T: {_TYPES}",
        ],
        shape_fn=_shape,
        gradient=NOT_DIFFERENTIABLE,
        doc="Intersection, union or difference (a-b, b-a) of the sets in the rows.",
    )

register_op(
    "SetSize",
    inputs=["set_indices: int64", "set_values: T", "set_shape: int64"],
    outputs=["size: int32"],
    attrs=["validate_indices: bool = true", f"T: {_TYPES}"],
    shape_fn=_size_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="The number of different elements in each row.",
)


@export("sets.size", "sets.set_size")
def set_size(a: Any, validate_indices: bool = True) -> Tensor:
    """How many different elements each innermost row has, int32.

    Raises:
      TypeError: not a SparseTensor, or of a dtype that sets do not take.
    """
    a = convert_to_tensor_or_sparse_tensor(a, name="a")
    if not isinstance(a, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {a}.")
    if a.values.dtype.base_dtype not in _VALID:
        raise TypeError(f"Invalid dtype {a.values.dtype}.")
    return apply_op(  # type: ignore[no-any-return]
        "SetSize",
        set_indices=a.indices,
        set_values=a.values,
        set_shape=a.dense_shape,
        validate_indices=validate_indices,
    )


def _operands(a: Any, b: Any) -> tuple[Any, Any, bool]:
    """(a, b, whether they changed places): dense before sparse."""
    a = convert_to_tensor_or_sparse_tensor(a, name="a")
    if a.dtype.base_dtype not in _VALID:
        raise TypeError(f"'a' invalid dtype {a.dtype}.")
    b = convert_to_tensor_or_sparse_tensor(b, name="b")
    if b.dtype.base_dtype != a.dtype.base_dtype:
        raise TypeError(f"Types don't match, {a.dtype} vs {b.dtype}.")
    if isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        return b, a, True
    return a, b, False


def _operate(a: Any, b: Any, operation: str, validate: bool) -> SparseTensor:
    inputs: dict[str, Any] = {}
    for number, operand in enumerate((a, b), 1):
        if isinstance(operand, SparseTensor):
            inputs[f"set{number}_indices"] = operand.indices
            inputs[f"set{number}_values"] = operand.values
            inputs[f"set{number}_shape"] = operand.dense_shape
        else:
            inputs[f"set{number}"] = operand
    kinds = ["Sparse" if isinstance(x, SparseTensor) else "Dense" for x in (a, b)]
    result = apply_op(
        f"{kinds[0]}To{kinds[1]}SetOperation",
        **inputs,
        set_operation=operation,
        validate_indices=validate,
    )
    return SparseTensor(*result)


@export("sets.intersection", "sets.set_intersection")
def set_intersection(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """The elements of both, row by row."""
    a, b, _ = _operands(a, b)
    return _operate(a, b, "intersection", validate_indices)


@export("sets.difference", "sets.set_difference")
def set_difference(
    a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True
) -> SparseTensor:
    """The elements of a alone (of b alone without aminusb), row by row."""
    a, b, swapped = _operands(a, b)
    if swapped:
        aminusb = not aminusb
    return _operate(a, b, "a-b" if aminusb else "b-a", validate_indices)


@export("sets.union", "sets.set_union")
def set_union(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """The elements of either, row by row."""
    a, b, _ = _operands(a, b)
    return _operate(a, b, "union", validate_indices)
