"""A step of weighted least squares: factors of some rows, for those of the columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.framework.graph.graph import control_dependencies
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.ops.array.concat import concat, split
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.fill import ones
from tensorloom.ops.array.permute import transpose
from tensorloom.ops.array.reshape import expand_dims, squeeze
from tensorloom.ops.array.shape import rank
from tensorloom.ops.array.shape import shape as shape_of
from tensorloom.ops.debugging import check
from tensorloom.ops.indexing.selection import unique
from tensorloom.ops.linalg.matmul import matmul
from tensorloom.ops.linalg.matrix_solve import matrix_solve
from tensorloom.ops.linalg.norm import trace
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.comparison import equal
from tensorloom.ops.math.elementwise import square
from tensorloom.ops.nn.embedding import embedding_lookup
from tensorloom.ops.sparse.shape_builders import sparse_transpose
from tensorloom.ops.sparse.sparse_builders import (
    sparse_add,
    sparse_reduce_sum,
    sparse_tensor_dense_matmul,
)

if TYPE_CHECKING:
    from tensorloom.client.variables.variables import Variable


@dataclass(frozen=True)
class Sides:
    """What is solved for, called rows here, and what stays, called columns."""

    left: list[Variable]  # factors of the rows
    right: Any  # factors of the columns
    row_weights: Any  # None: all weights are that of what is not observed
    col_weights: Any
    gramian: Any  # right^T right
    size: tuple[int, int]  # of the matrix: rows, columns


@dataclass(frozen=True)
class Solution:
    """The factors of some rows, and what is lost with them."""

    indices: Any  # the rows
    values: Any  # their factors
    loss: Any  # without regularization, as if of all rows
    regularization: Any
    sum_of_weights: Any  # as if of all rows


@dataclass(frozen=True)
class _Block:
    """The rows of an input, and the columns where they have entries, numbered anew."""

    entries: SparseTensor  # as it came: transposed if `transposed`
    transposed: bool
    row_ids: Any  # the rows in the matrix, in the order of their numbers
    col_ids: Any
    count: Any  # of the rows

    def upright(self) -> SparseTensor:
        """The entries, rows first."""
        return sparse_transpose(self.entries) if self.transposed else self.entries


def solve(
    sides: Sides,
    sp_input: Any,
    transposed: bool,
    row_weights: Any,
    unobserved: float,
    regularization: float | None,
    penalty: Any,
) -> Solution:
    """Solves for the rows that an input has.

    Args:
      sides: the factors.
      sp_input: a SparseTensor of rows.
      transposed: whether it is transposed.
      row_weights: weights of these rows, a number or [rows]; the model's when None.
      unobserved: the weight of what has no entry.
      regularization, penalty: the factor, and the factor times the unit matrix; None
        for none.
    """
    assert isinstance(sp_input, SparseTensor)
    block = _numbered(sp_input, transposed)
    right = embedding_lookup(sides.right, block.col_ids, partition_strategy="div")
    lhs = unobserved * sides.gramian
    if penalty is not None:
        lhs = lhs + penalty
    rows = columns = None
    if sides.row_weights is None:
        product = sparse_tensor_dense_matmul(block.entries, right, adjoint_a=transposed)
        rhs = unobserved * product
        values = transpose(matrix_solve(lhs, transpose(rhs)))
    else:
        rows = _weights_of_rows(sides, block, row_weights)
        columns = embedding_lookup(
            sides.col_weights, block.col_ids, partition_strategy="div"
        )
        partial_lhs, rhs = apply_op(
            "WALSComputePartialLhsAndRhs",
            "wals_compute_partial_lhs_rhs",
            factors=right,
            factor_weights=columns,
            unobserved_weights=unobserved,
            input_weights=rows,
            input_indices=block.entries.indices,
            input_values=block.entries.values,
            entry_weights=[],
            input_block_size=block.count,
            input_is_transpose=transposed,
        )
        lhs = expand_dims(lhs, 0) + partial_lhs
        values = squeeze(matrix_solve(lhs, expand_dims(rhs, -1)), [2])
    return _with_losses(
        sides, block, values, right, (rows, columns), unobserved, regularization
    )


def _numbered(sp_input: SparseTensor, transposed: bool) -> _Block:
    first, second = split(value=sp_input.indices, num_or_size_splits=2, axis=1)
    ids, numbers, counts = [], [], []
    for column in (first, second):
        found, places = unique(column[:, 0])
        ids.append(found)
        numbers.append(expand_dims(cast(places, dtypes.int64), 1))
        counts.append(cast(shape_of(found)[0], dtypes.int64))
    entries = SparseTensor(
        indices=concat(numbers, 1),
        values=sp_input.values,
        dense_shape=concat([[count] for count in counts], 0),
    )
    row, col = (1, 0) if transposed else (0, 1)
    return _Block(entries, transposed, ids[row], ids[col], counts[row])


def _weights_of_rows(sides: Sides, block: _Block, given: Any) -> Any:
    if given is None:
        return embedding_lookup(
            sides.row_weights, block.row_ids, partition_strategy="div"
        )
    count = shape_of(block.row_ids)[0]
    with control_dependencies([check.assert_less_equal(rank(given), 1)]):
        return cond(
            equal(rank(given), 0),
            lambda: ones([count]) * given,
            lambda: cast(given, dtypes.float32),
        )


def _with_losses(
    sides: Sides,
    block: _Block,
    values: Any,
    right: Any,
    weights: tuple[Any, Any],
    unobserved: float,
    regularization: float | None,
) -> Solution:
    """The loss is that of the entries, and of all else by the products of factors."""
    entries = block.upright()
    approximation: Any = SparseTensor(
        entries.indices,
        apply_op(
            "MaskedMatmul",
            a=values,
            b=right,
            mask_indices=entries.indices,
            transpose_a=False,
            transpose_b=True,
        ),
        entries.dense_shape,
    )
    residual: Any = _squares(sparse_add(entries, approximation * (-1)))
    rows, columns = (
        constant(0.0) if vector is None else expand_dims(vector, axis)
        for vector, axis in zip(weights, (1, 0), strict=True)
    )
    own = matmul(values, values, transpose_a=True)
    total_rows, total_cols = sides.size
    share = total_rows / cast(block.count, dtypes.float32)
    everywhere = (
        sparse_reduce_sum(residual)
        - sparse_reduce_sum(_squares(approximation))
        + trace(matmul(own, sides.gramian))
    )
    observed = sparse_reduce_sum(rows * (residual * columns))
    loss = (unobserved * everywhere + observed) * share
    penalty: Any = constant(0.0)
    if regularization is not None:
        penalty = regularization * (trace(own) * share + trace(sides.gramian))
    total = unobserved * cast(total_rows * total_cols, dtypes.float32)
    if weights[0] is not None:
        single: Any = SparseTensor(
            entries.indices, ones(shape_of(entries.values)), entries.dense_shape
        )
        total = total + sparse_reduce_sum(rows * (single * columns)) * share
    return Solution(block.row_ids, values, loss, penalty, total)


def _squares(sparse: SparseTensor) -> SparseTensor:
    return SparseTensor(sparse.indices, square(sparse.values), sparse.dense_shape)
