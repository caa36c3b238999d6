"""Initializers that make convolutions keep the length of what they convolve.

Xiao et al. 2018, arXiv:1806.05393, algorithms 1 and 2.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import array_ops
from tensorloom.ops.indexing.tensor_scatter import scatter_nd
from tensorloom.ops.linalg import builders as linalg_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.random import random_ops
from tensorloom.ops.state.initializers import Initializer, float_dtype

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor

# Matrices by the position in the kernel.
_Kernel = dict[tuple[int, ...], Any]


class _OrthogonalKernel(Initializer):
    """What they share: a gain, a seed, and orthogonal matrices."""

    def __init__(
        self, gain: float = 1.0, seed: int | None = None, dtype: Any = dtypes.float32
    ) -> None:
        self.gain = gain
        self.dtype = float_dtype(dtype)
        self.seed = seed

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain, "seed": self.seed, "dtype": self.dtype.name}

    def _check(self, shape: Any) -> None:
        if shape[-2] > shape[-1]:
            raise ValueError(
                f"In_filters cannot be greater than out_filters: {shape[-2]} > "
                f"{shape[-1]}."
            )


def _orthogonal(size: int, dtype: Any, seed: int | None) -> Tensor:
    normal = random_ops.random_normal([size, size], dtype=dtype, seed=seed)
    q, r = apply_op("Qr", input=normal, full_matrices=False)
    return q * math_ops.sign(array_ops.diag_part(r))  # type: ignore[no-any-return]


@export("contrib.framework.convolutional_delta_orthogonal")
class ConvolutionDeltaOrthogonal(_OrthogonalKernel):
    """An orthogonal matrix in the middle of the kernel, zeros elsewhere.

    Raises (when called):
      ValueError: the rank is not 3 to 5, or there are fewer outputs than inputs.
    """

    def __call__(
        self, shape: Any, dtype: Any = None, partition_info: Any = None
    ) -> Tensor:
        dtype = self.dtype if dtype is None else dtype
        if not 3 <= len(shape) <= 5:
            raise ValueError(
                "The tensor to initialize must be at least three-dimensional and at "
                "most five-dimensional"
            )
        self._check(shape)
        matrix = _orthogonal(shape[-1], dtype, self.seed)[: shape[-2], :]
        matrix *= math_ops.cast(self.gain, dtype=dtype)
        middle = [(size - 1) // 2 for size in shape[:-2]]
        return scatter_nd([middle], array_ops.expand_dims(matrix, 0), shape)


class ConvolutionOrthogonal(_OrthogonalKernel):
    """An orthogonal kernel, made of random projections.

    Raises (when called):
      ValueError: another rank, sizes that differ, or fewer outputs than inputs.
    """

    _rank = 0
    _rank_name = ""
    # The position that belongs to the projection, rather than to its complement.
    _projected = 0

    def __call__(
        self, shape: Any, dtype: Any = None, partition_info: Any = None
    ) -> Tensor:
        dtype = self.dtype if dtype is None else dtype
        if len(shape) != self._rank + 2:
            raise ValueError(
                f"The tensor to initialize must be {self._rank_name}-dimensional"
            )
        self._check(shape)
        if len(set(map(int, shape[:-2]))) != 1:
            raise ValueError(f"Kernel sizes must be equal, not {list(shape[:-2])}.")
        kernel = self._orthogonal_kernel(int(shape[0]), shape[-2], shape[-1])
        gained: Tensor = kernel * math_ops.cast(self.gain, dtype=dtype)
        return gained

    def _next_seed(self) -> None:
        if self.seed:
            self.seed += 1

    def _matrix(self, size: int) -> Tensor:
        matrix = _orthogonal(size, self.dtype, self.seed)
        self._next_seed()
        return matrix

    def _projection(self, size: int) -> Tensor:
        """A random symmetric projection."""
        q = self._matrix(size)
        normal = random_ops.random_normal([size], seed=self.seed)
        mask = math_ops.cast(normal > 0, self.dtype)
        self._next_seed()
        columns = math_ops.multiply(q, mask)
        return math_ops.matmul(columns, array_ops.matrix_transpose(columns))

    def _block(self, size: int) -> _Kernel:
        """A kernel of two positions an axis."""
        projections = [self._projection(size) for _ in range(self._rank)]
        eye = linalg_ops.eye(size, dtype=self.dtype)
        block: _Kernel = {}
        for position in itertools.product((0, 1), repeat=self._rank):
            product: Any = None
            for index, projection in zip(position, projections, strict=True):
                factor = projection if index == self._projected else eye - projection
                product = (
                    factor if product is None else math_ops.matmul(product, factor)
                )
            block[position] = product
        return block

    def _orthogonal_kernel(self, size: int, inputs: int, outputs: int) -> Tensor:
        rows = self._matrix(outputs)[0:inputs, :]
        if size == 1:
            return array_ops.reshape(rows, [1] * self._rank + [inputs, outputs])
        kernel = self._block(outputs)
        for length in range(2, size):
            kernel = self._convolved(kernel, length, self._block(outputs))
        parts = [
            math_ops.matmul(rows, kernel[position])
            for position in itertools.product(range(size), repeat=self._rank)
        ]
        shape = [size] * self._rank + [inputs, outputs]
        return array_ops.reshape(array_ops.stack(parts), shape)

    def _convolved(self, kernel: _Kernel, length: int, block: _Kernel) -> _Kernel:
        """The kernel, one position an axis longer."""
        result: _Kernel = {}
        for position in itertools.product(range(length + 1), repeat=self._rank):
            terms = [
                math_ops.matmul(kernel[at], block[rest])
                for at in itertools.product(range(length), repeat=self._rank)
                if (rest := tuple(p - a for p, a in zip(position, at, strict=True)))
                in block
            ]
            result[position] = sum(terms[1:], terms[0])
        return result


@export("contrib.framework.convolutional_orthogonal_1d")
class ConvolutionOrthogonal1D(ConvolutionOrthogonal):
    """An orthogonal kernel [width, in, out]."""

    _rank = 1
    _rank_name = "three"


@export("contrib.framework.convolutional_orthogonal_2d")
class ConvolutionOrthogonal2D(ConvolutionOrthogonal):
    """An orthogonal kernel [size, size, in, out]."""

    _rank = 2
    _rank_name = "four"


@export("contrib.framework.convolutional_orthogonal_3d")
class ConvolutionOrthogonal3D(ConvolutionOrthogonal):
    """An orthogonal kernel [size, size, size, in, out]."""

    _rank = 3
    _rank_name = "five"
    _projected = 1
