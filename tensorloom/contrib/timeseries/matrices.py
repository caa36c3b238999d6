"""Powers and blocks of matrices, and covariances made of variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorloom.client.control_flow.fold import scan
from tensorloom.client.control_flow.while_loop import while_loop
from tensorloom.client.variables.variable_scope import get_variable
from tensorloom.contrib.layers.dense import fully_connected
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import concat, fill, identity, pad, permute, reshape, shape
from tensorloom.ops.array.constant import constant
from tensorloom.ops.indexing import gather, selection
from tensorloom.ops.linalg import matrix_diag, matrix_solve
from tensorloom.ops.linalg.builders import eye
from tensorloom.ops.linalg.matmul import matmul
from tensorloom.ops.math import binary, cast, comparison, elementwise
from tensorloom.ops.math.sequence import range as range_op
from tensorloom.ops.nn.activation import softsign
from tensorloom.ops.reductions import aggregate, reductions
from tensorloom.ops.reductions.scan import cumsum
from tensorloom.ops.state.initializers import Zeros


def clip_covariance(
    covariance_matrix: Any, maximum_variance_ratio: float, minimum_variance: float
) -> Any:
    """Covariances whose variances are not too small.

    Args:
      covariance_matrix: [..., n, n].
      maximum_variance_ratio: of two variances; smaller ones become larger.
      minimum_variance: of all.
    """
    diagonal = matrix_diag.matrix_diag_part(covariance_matrix)
    largest = reductions.reduce_max(diagonal, axis=-1, keepdims=True)
    clipped = binary.maximum(diagonal, largest / maximum_variance_ratio)
    return matrix_diag.matrix_set_diag(
        covariance_matrix, binary.maximum(clipped, minimum_variance)
    )


def block_diagonal(
    matrices: Sequence[Any], dtype: Any = dtypes.float32, name: str = "block_diagonal"
) -> Any:
    """Matrices along the diagonal of one, zeros elsewhere.

    Args:
      matrices: [..., n_i, m_i] each.
      dtype: of all.
      name: of the operation.

    Returns:
      [..., sum of n_i, sum of m_i].
    """
    blocks = [convert_to_tensor(matrix, dtype=dtype) for matrix in matrices]
    batch = TensorShape(None)
    rows, columns = TensorShape([0])[0], TensorShape([0])[0]
    for block in blocks:
        known = block.get_shape().with_rank_at_least(2)
        batch = batch.merge_with(known[:-2])
        rows, columns = rows + known[-2], columns + known[-1]
    widths = [shape.shape(block)[-1] for block in blocks]
    total = aggregate.add_n(widths)
    padded: list[Any] = []
    before: Any = 0
    for block, width in zip(blocks, widths, strict=True):
        none = fill.zeros([shape.rank(block) - 1, 2], dtype=dtypes.int32)
        paddings = concat.concat([none, [(before, total - before - width)]], axis=0)
        padded.append(pad.pad(block, paddings))
        before = before + width
    blocked = concat.concat(padded, -2, name=name)
    blocked.set_shape(batch.concatenate((rows, columns)))
    return blocked


def power_sums_tensor(array_size: Any, power_matrix: Any, multiplier: Any) -> Any:
    """For N from 0 on, the sum of A^i B (A^i)^T for i below N.

    Args:
      array_size: the last N.
      power_matrix: A.
      multiplier: B.

    Returns:
      [array_size + 1, n, n].
    """
    array_size = cast.cast(array_size, dtypes.int32)
    power_matrix = convert_to_tensor(power_matrix)
    first = eye(shape.shape(power_matrix)[0], dtype=power_matrix.dtype)
    first.set_shape(power_matrix.get_shape())
    powers = scan(
        lambda power, _: matmul(power, power_matrix),
        range_op(array_size - 1),
        initializer=first,
    )
    terms = matmul(batch_times_matrix(powers, multiplier), powers, adjoint_b=True)
    start = reshape.expand_dims(multiplier, 0)
    sums = cumsum(concat.concat([start, terms], 0))
    return concat.concat([reshape.expand_dims(fill.zeros_like(multiplier), 0), sums], 0)


def matrix_to_powers(matrix: Any, powers: Any) -> Any:
    """One matrix to each of several powers, [powers, n, n]."""
    count = shape.size(powers)
    return batch_matrix_pow(
        pad.tile(reshape.expand_dims(matrix, 0), [count, 1, 1]), powers
    )


def batch_matrix_pow(matrices: Any, powers: Any) -> Any:
    """Each matrix to its power, an integer, by squaring.

    Args:
      matrices: [batch, n, n].
      powers: [batch].
    """
    matrices = convert_to_tensor(matrices)
    powers = cast.cast(powers, dtype=dtypes.int32)
    sizes = shape.shape(matrices)
    ones = fill.ones([sizes[1]], dtype=matrices.dtype)
    unit = pad.tile(reshape.expand_dims(matrix_diag.diag(ones), 0), [sizes[0], 1, 1])

    def goes_on(square: Any, power: Any, product: Any) -> Any:
        return reductions.reduce_any(comparison.greater(power, fill.ones_like(power)))

    def body(square: Any, power: Any, product: Any) -> tuple[Any, ...]:
        is_even = comparison.equal(power % 2, fill.zeros_like(power))
        goes = comparison.greater(power, 1)
        grown = selection.where(is_even, product, matmul(product, square))
        return (
            selection.where(goes, matmul(square, square), square),
            selection.where(goes, (power - power % 2) // 2, power),
            selection.where(goes, grown, product),
        )

    square, power, product = while_loop(goes_on, body, [matrices, powers, unit])
    is_zero = comparison.equal(power, fill.zeros_like(power))
    return selection.where(is_zero, unit, matmul(square, product))


def batch_times_matrix(
    batch: Any, matrix: Any, adj_x: bool = False, adj_y: bool = False
) -> Any:
    """Each matrix of a batch times one matrix.

    Args:
      batch: [batch, n, m] after it is transposed.
      matrix: [m, p] after it is transposed.
      adj_x, adj_y: whether to transpose the batch's, and the one.
    """
    batch, matrix = convert_to_tensor(batch), convert_to_tensor(matrix)
    assert batch.get_shape().ndims == 3
    assert matrix.get_shape().ndims == 2
    if adj_x:
        batch = permute.transpose(batch, [0, 2, 1])
    columns = 0 if adj_y else 1
    result = [
        _size(batch, 0),
        _size(batch, 1),
        _size(matrix, columns),
    ]
    flat = reshape.reshape(batch, [-1, shape.shape(batch)[2]])
    return reshape.reshape(matmul(flat, matrix, adjoint_b=adj_y), result)


def _size(tensor: Any, dimension: int) -> Any:
    known = tensor.get_shape()[dimension].value
    return shape.shape(tensor)[dimension] if known is None else known


def matrix_times_batch(
    matrix: Any, batch: Any, adj_x: bool = False, adj_y: bool = False
) -> Any:
    """One matrix times each of a batch."""
    product = batch_times_matrix(batch, matrix, adj_x=not adj_y, adj_y=not adj_x)
    return permute.transpose(product, [0, 2, 1])


def make_toeplitz_matrix(inputs: Any, name: str | None = None) -> Any:
    """The symmetric block Toeplitz matrix whose first row of blocks is the input.

    Args:
      inputs: [blocks, size, size].
      name: of the operation.
    """
    sizes = shape.shape(inputs)
    lags = reshape.reshape(range_op(sizes[0]), shape=[1, -1])
    blocks = gather.gather(inputs, elementwise.abs(lags - permute.transpose(lags)))
    total = sizes[0] * sizes[1]
    result = reshape.reshape(permute.transpose(blocks, [0, 2, 1, 3]), [total, total])
    return identity.identity(result, name=name)


def sign_magnitude_positive_definite(
    raw: Any, off_diagonal_scale: Any = 0.0, overall_scale: Any = 0.0
) -> Any:
    """A positive definite matrix from any matrix.

    It is C^T C. C has exp((raw_ii + overall) / 2) on the diagonal, and above it
    softsign(raw_ji) exp((raw_ij + off diagonal + overall) / 2).

    Args:
      raw: [..., n, n].
      off_diagonal_scale, overall_scale: scalars, or [...].
    """
    raw = convert_to_tensor(raw)
    diagonal = matrix_diag.matrix_diag_part(raw)

    def padded(tensor: Any, rank: Any) -> Any:
        tensor = convert_to_tensor(tensor, dtype=raw.dtype.base_dtype)
        ones = fill.ones([rank - shape.rank(tensor)], dtype=rank.dtype)
        return reshape.reshape(tensor, concat.concat([shape.shape(tensor), ones], 0))

    rank = shape.rank(raw)
    scaled = raw + padded(off_diagonal_scale, rank) + padded(overall_scale, rank)
    upper = elementwise.exp(scaled / 2.0) * softsign(permute.matrix_transpose(raw))
    upper.set_shape(raw.get_shape())
    own = diagonal + padded(overall_scale, shape.rank(diagonal))
    factor = matrix_diag.matrix_set_diag(
        matrix_diag.matrix_band_part(upper, 0, -1), elementwise.exp(own / 2.0)
    )
    return matmul(factor, factor, transpose_a=True)


def transform_to_covariance_matrices(input_vectors: Any, matrix_size: int) -> Any:
    """Covariances by a dense layer.

    Args:
      input_vectors: [batch, size].
      matrix_size: n.

    Returns:
      [batch, n, n].
    """
    values = fully_connected(input_vectors, matrix_size**2 + 2, activation_fn=None)
    sizes = [shape.shape(values)[:-1], [matrix_size, matrix_size]]
    return sign_magnitude_positive_definite(
        raw=reshape.reshape(values[..., :-2], concat.concat(sizes, 0)),
        off_diagonal_scale=values[..., -2],
        overall_scale=values[..., -1],
    )


def variable_covariance_matrix(
    size: int,
    name: str,
    dtype: Any,
    initial_diagonal_values: Any = None,
    initial_overall_scale_log: Any = 0.0,
) -> Any:
    """A covariance of variables, which training can change in any way.

    Args:
      size: n.
      name: before those of the variables, and of the operation.
      dtype: of floating point.
      initial_diagonal_values: [n], above zero.
      initial_overall_scale_log: the logarithm of a factor, at first.

    Returns:
      [n, n].
    """
    raw: Any = get_variable(
        name + "_pre_transform", dtype=dtype, shape=[size, size], initializer=Zeros()
    )
    if initial_diagonal_values is not None:
        raw += matrix_diag.matrix_diag(elementwise.log(initial_diagonal_values))
    off_diagonal = get_variable(
        name + "_off_diagonal_scale",
        dtype=dtype,
        initializer=constant(-5.0, dtype=dtype),
    )
    overall = convert_to_tensor(initial_overall_scale_log, dtype=dtype) + get_variable(
        name + "_overall_scale", dtype=dtype, shape=[], initializer=Zeros()
    )
    matrix = sign_magnitude_positive_definite(raw, off_diagonal, overall)
    return identity.identity(matrix, name=name)


def log_noninformative_covariance_prior(covariance: Any) -> Any:
    """log(det(covariance)^(-(n + 1) / 2)): a prior for small noise.

    Villegas, "On the A Priori Distribution of the Covariance Matrix", 1969.

    Args:
      covariance: [n, n].
    """
    size = shape.shape(covariance)[0]
    # Rounding may have made the determinant zero or less.
    covariance += matrix_diag.diag(1e-8 * fill.ones([size], dtype=covariance.dtype))
    power = -(cast.cast(size + 1, covariance.dtype) / 2.0)
    return power * elementwise.log(matrix_solve.matrix_determinant(covariance))
