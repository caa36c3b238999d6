"""`tf.linalg.expm`, by Pade approximants (Higham, SIAM J. Matrix Anal. 26, 2005)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.client.control_flow.while_loop import while_loop
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.constant import constant
from tensorloom.ops.linalg import builders as linalg_ops
from tensorloom.ops.linalg.matrix_solve import matrix_solve
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from collections.abc import Sequence

_PADE: Final[dict[int, tuple[float, ...]]] = {
    3: (120.0, 60.0, 12.0),
    5: (30240.0, 15120.0, 3360.0, 420.0, 30.0),
    7: (17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0),
    9: (
        *(17643225600.0, 8821612800.0, 2075673600.0, 302702400.0, 30270240.0),
        *(2162160.0, 110880.0, 3960.0, 90.0),
    ),
    13: (
        *(64764752532480000.0, 32382376266240000.0, 7771770303897600.0),
        *(1187353796428800.0, 129060195264000.0, 10559470521600.0, 670442572800.0),
        *(33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0),
    ),
}
# (degrees, norms up to which each but the last is used, norm that scaling aims at)
_SINGLE: Final = (
    (3, 5, 7),
    (4.258730016922831e-001, 1.880152677804762e000),
    3.925724783138660,
)
_DOUBLE: Final = (
    (3, 5, 7, 9, 13),
    (
        *(1.495585217958292e-002, 2.539398330063230e-001),
        *(9.504178996162932e-001, 2.097847961257068e000),
    ),
    5.371920351148152,
)
_PRECISIONS: Final = {
    dtypes.float16: _SINGLE,
    dtypes.float32: _SINGLE,
    dtypes.complex64: _SINGLE,
    dtypes.float64: _DOUBLE,
    dtypes.complex128: _DOUBLE,
}


@export("linalg.expm")
def matrix_exponential(input: Any, name: str | None = None) -> Tensor:
    """The exponentials of matrices [..., n, n].

    Raises:
      ValueError: the matrices are of an integer type.
    """
    with name_scope(name, "matrix_exponential", [input]):
        matrix = convert_to_tensor(input, name="input")
        if matrix.shape[-2:] == [0, 0]:
            return matrix
        batch: Any = matrix.shape[:-2]
        if not batch.is_fully_defined():
            batch = array_ops.shape(matrix)[:-2]
        sides = array_ops.shape(matrix)[-2:]
        matrix = array_ops.reshape(matrix, array_ops.concat(([-1], sides), axis=0))
        sizes = math_ops.abs(matrix)
        sums_axis = array_ops.size(array_ops.shape(matrix)) - 2
        sums = math_ops.reduce_sum(sizes, axis=sums_axis)
        norm = math_ops.reduce_max(sums, axis=-1)
        result = _exponentials(matrix, norm)
        if not matrix.shape.is_fully_defined():
            shape = array_ops.concat((batch, array_ops.shape(result)[-2:]), axis=0)
            return array_ops.reshape(result, shape)
        return array_ops.reshape(result, batch.concatenate(result.shape[-2:]))


def _exponentials(matrix: Tensor, norm: Tensor) -> Tensor:
    precision = _PRECISIONS.get(matrix.dtype)
    if precision is None:
        raise ValueError(
            f"tf.linalg.expm does not support matrices of type {matrix.dtype}"
        )
    degrees, limits, largest = precision
    excess = math_ops.log(norm / constant(largest, norm.dtype)) / math_ops.log(
        constant(2.0, norm.dtype)
    )
    squarings = math_ops.maximum(math_ops.floor(excess), 0)
    pairs = [_pade(matrix, degree) for degree in degrees[:-1]]
    two = constant(2.0, dtype=matrix.dtype)
    scale = math_ops.pow(two, math_ops.cast(squarings, matrix.dtype))
    pairs.append(_pade(matrix / scale[..., None, None], degrees[-1]))
    u = _by_norm(norm, limits, [pair[0] for pair in pairs])
    v = _by_norm(norm, limits, [pair[1] for pair in pairs])
    numerator = u + v
    approximant = matrix_solve(-u + v, numerator)
    return _square_repeatedly(approximant, squarings, norm)


def _by_norm(norm: Tensor, limits: Sequence[float], cases: list[Tensor]) -> Tensor:
    """Of each matrix the first case whose limit is above its norm."""
    is_below = math_ops.less(norm, constant(limits[0], norm.dtype))
    rest = cases[1] if len(limits) == 1 else _by_norm(norm, limits[1:], cases[1:])
    return array_ops.where(is_below, cases[0], rest)


def _square_repeatedly(result: Tensor, squarings: Tensor, norm: Tensor) -> Tensor:
    most = math_ops.reduce_max(squarings)

    def body(i: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        following = i + 1
        is_pending = math_ops.less(i, squarings)
        squared = math_ops.matmul(value, value)
        return following, array_ops.where(is_pending, squared, value)

    start = constant(0.0, norm.dtype)
    _, result = while_loop(lambda i, _: math_ops.less(i, most), body, [start, result])
    return result


def _pade(matrix: Tensor, degree: int) -> tuple[Tensor, Tensor]:
    """(odd part, even part) of the numerator of the approximant of this degree."""
    b = [constant(x, matrix.dtype) for x in _PADE[degree]]
    rows, batch = array_ops.shape(matrix)[-2], array_ops.shape(matrix)[:-2]
    identity = linalg_ops.eye(rows, batch_shape=batch, dtype=matrix.dtype)
    # powers[i] is the matrix to the power 2 * i.
    powers = [identity, math_ops.matmul(matrix, matrix)]
    while len(powers) < (4 if degree == 13 else (degree + 1) // 2):
        powers.append(math_ops.matmul(powers[-1], powers[1]))
    if degree == 13:
        return _pade13(matrix, powers, b)
    top = (degree - 1) // 2
    odd = powers[top]
    for i in range(top - 1, -1, -1):
        odd = odd + b[2 * i + 1] * powers[i]
    odd = math_ops.matmul(matrix, odd)
    even = b[2 * top] * powers[top]
    for i in range(top - 1, -1, -1):
        even = even + b[2 * i] * powers[i]
    return odd, even


def _pade13(
    matrix: Tensor, powers: list[Tensor], b: list[Tensor]
) -> tuple[Tensor, Tensor]:
    identity, p2, p4, p6 = powers
    odd = (
        math_ops.matmul(p6, p6 + b[11] * p4 + b[9] * p2)
        + b[7] * p6
        + b[5] * p4
        + b[3] * p2
        + b[1] * identity
    )
    odd = math_ops.matmul(matrix, odd)
    high = b[12] * p6 + b[10] * p4 + b[8] * p2
    even = (
        math_ops.matmul(p6, high) + b[6] * p6 + b[4] * p4 + b[2] * p2 + b[0] * identity
    )
    return odd, even
