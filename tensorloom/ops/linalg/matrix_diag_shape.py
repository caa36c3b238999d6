"""Static shapes of the MatrixDiag family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

Dims = tuple[int | None, ...]


def matrix_diag(c: InferenceContext) -> TensorShape:
    """[..., n] -> [..., n, n]."""
    dims = c.with_rank_at_least(0, 1).dims_tuple
    return UNKNOWN if dims is None else TensorShape.of((*dims, dims[-1]))


def matrix_diag_part(c: InferenceContext) -> TensorShape:
    """[..., rows, columns] -> [..., min(rows, columns)]."""
    dims = c.with_rank_at_least(0, 2).dims_tuple
    if dims is None:
        return UNKNOWN
    return TensorShape.of((*dims[:-2], _min(dims[-2], dims[-1])))


def matrix_set_diag(c: InferenceContext) -> TensorShape:
    """The input, the diagonal's batch axes merged in."""
    dims = c.with_rank_at_least(0, 2).dims_tuple
    diagonal = c.with_rank_at_least(1, 1).dims_tuple
    if dims is None:
        if diagonal is None:
            return UNKNOWN
        return TensorShape.of((*diagonal[:-1], None, None))
    if diagonal is None:
        return c.input_shape(0)
    c.with_rank(1, len(dims) - 1)
    c.merge_dim(_min(dims[-2], dims[-1]), diagonal[-1])
    if None not in dims:  # the kernel compares the batch's sizes
        return c.input_shape(0)
    batch = c.merge(TensorShape.of(dims[:-2]), TensorShape.of(diagonal[:-1]))
    return batch.concatenate(TensorShape.of(dims[-2:]))


def matrix_diag_v2(c: InferenceContext) -> TensorShape:
    """[..., n] or [..., diagonals, n] -> [..., rows, columns]."""
    dims = c.with_rank_at_least(0, 1).dims_tuple
    k, rows, columns = _band(c, 1), _number(c, 2), _number(c, 3)
    c.with_rank(4, 0)
    if dims is None:
        return UNKNOWN
    if k is None:
        return UNKNOWN
    lower, upper = k
    taken = 1 if lower == upper else 2
    if len(dims) < taken:
        c.fail(f"Shape must be at least rank {taken} but is rank {len(dims)}")
    if taken == 2 and dims[-2] is not None and dims[-2] != upper - lower + 1:
        c.fail(
            "The number of rows of `diagonal` doesn't match the number of diagonals "
            f"implied from `d_lower` and `d_upper`.\nnum_diags = {upper - lower + 1}, "
            f"d_lower = {lower}, d_upper = {upper}, input_shape = {list(dims)}"
        )
    length = dims[-1]
    sizes = _matrix_sizes(c, length, lower, upper, rows, columns)
    return TensorShape.of((*dims[:-taken], *sizes))


def _matrix_sizes(
    c: InferenceContext,
    length: int | None,
    lower: int,
    upper: int,
    rows: int | None,
    columns: int | None,
) -> Dims:
    if length is None:
        return (_given(rows), _given(columns))
    least_rows = length - min(upper, 0)
    least_columns = length + max(lower, 0)
    if rows is None and columns is None:
        return (None, None)
    if rows == -1 and columns == -1:
        side = max(least_rows, least_columns)
        return (side, side)
    if rows == -1:
        rows = least_rows
    if columns == -1:
        columns = least_columns
    if (rows is not None and rows < least_rows) or (
        columns is not None and columns < least_columns
    ):
        c.fail("num_rows and num_cols are too small")
    if rows not in (None, least_rows) and columns not in (None, least_columns):
        c.fail(
            "num_rows and num_cols are not consistent with lower_diag_index, "
            "upper_diag_index, and the length of the given diagonals.\n"
            f"num_rows = {rows} != min_num_rows = {least_rows}, "
            f"num_cols = {columns} != min_num_cols = {least_columns}"
        )
    return (rows, columns)


def _given(size: int | None) -> int | None:
    return None if size == -1 else size


def matrix_diag_part_v2(c: InferenceContext) -> TensorShape:
    """[..., rows, columns] -> [..., n] or [..., diagonals, n]."""
    dims = c.with_rank_at_least(0, 2).dims_tuple
    k = _band(c, 1)
    if c.num_inputs > 2:
        c.with_rank(2, 0)
    if dims is None or k is None:
        return UNKNOWN
    lower, upper = k
    rows, columns = dims[-2:]
    _check_band(c, lower, upper, rows, columns)
    length = _diagonal_length(rows, columns, lower, upper)
    if lower == upper:
        return TensorShape.of((*dims[:-2], length))
    return TensorShape.of((*dims[:-2], upper - lower + 1, length))


def matrix_set_diag_v2(c: InferenceContext) -> TensorShape:
    """The input, the diagonals' batch axes merged in."""
    dims = c.with_rank_at_least(0, 2).dims_tuple
    diagonal = c.with_rank_at_least(1, 1).dims_tuple
    k = _band(c, 2)
    if dims is None or k is None or diagonal is None:
        return c.input_shape(0)
    lower, upper = k
    taken = 1 if lower == upper else 2
    rows, columns = dims[-2:]
    _check_band(c, lower, upper, rows, columns)
    length = _diagonal_length(rows, columns, lower, upper)
    tail: Dims = (length,) if taken == 1 else (upper - lower + 1, length)
    wanted = TensorShape.of((*dims[:-2], *tail))
    merged = c.merge(wanted, c.with_rank(1, len(dims) - 2 + taken)).dims_tuple
    assert merged is not None
    return TensorShape.of((*merged[:-taken], rows, columns))


def _band(c: InferenceContext, index: int) -> tuple[int, int] | None:
    """(lowest, highest) diagonal, None when not known."""
    c.with_rank_at_most(index, 1)
    value: Any = c.input_value(index)
    if value is None:
        return None
    numbers = value.reshape(-1).tolist()
    if len(numbers) not in (1, 2):
        c.fail(
            "diag_index must be a vector with one or two elements. It has "
            f"{len(numbers)} elements."
        )
    lower, upper = numbers[0], numbers[-1]
    if lower > upper:
        c.fail(f"lower_diag_index is greater than upper_diag_index: {lower} > {upper}")
    return lower, upper


def _number(c: InferenceContext, index: int) -> int | None:
    c.with_rank(index, 0)
    value = c.input_value(index)
    return None if value is None else int(value)


def _check_band(
    c: InferenceContext, lower: int, upper: int, rows: int | None, columns: int | None
) -> None:
    for name, number in (("lower_diag_index", lower), ("upper_diag_index", upper)):
        if (rows is not None and number and -rows >= number) or (
            columns is not None and number and number >= columns
        ):
            c.fail(f"{name} is out of bound: {number}")


def _diagonal_length(
    rows: int | None, columns: int | None, lower: int, upper: int
) -> int | None:
    """The length of the longest diagonal of a band."""
    if rows is None or columns is None:
        return None
    return min(rows + min(upper, 0), columns - max(lower, 0))


def _min(a: int | None, b: int | None) -> int | None:
    if a == 0 or b == 0:
        return 0
    return None if a is None or b is None else min(a, b)
