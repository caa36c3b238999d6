"""`tf.linalg.LinearOperatorCirculant`, and those of two and three dimensions."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.linalg.linear_operator import LinearOperator
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.linalg import matrix_solve as matrix_solve_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.signal import fft_ops

_FFT = {1: fft_ops.fft, 2: fft_ops.fft2d, 3: fft_ops.fft3d}
_IFFT = {1: fft_ops.ifft, 2: fft_ops.ifft2d, 3: fft_ops.ifft3d}


class _BaseCirculant(LinearOperator):
    """Matrices that a Fourier transform of some dimensions makes diagonal."""

    _depth = 1

    def __init__(
        self,
        spectrum: Any,
        input_output_dtype: Any = dtypes.complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str = "LinearOperatorCirculant",
    ) -> None:
        self._name = name
        with name_scope(name, values=[spectrum]):
            self._spectrum: Tensor = convert_to_tensor(spectrum, name="spectrum")
        rank = self._spectrum.shape.rank
        if rank is not None and rank < self._depth:
            raise ValueError(
                f"Argument spectrum must have at least {self._depth} dimensions.  "
                f"Found: {self._spectrum}"
            )
        if is_square is False:
            raise ValueError("A circulant operator is always square.")
        # A real spectrum means a Hermitian operator.
        if not self._spectrum.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError(
                    "A real spectrum always corresponds to a self-adjoint operator."
                )
            is_self_adjoint = True
        super().__init__(
            dtypes.as_dtype(input_output_dtype),
            [self._spectrum],
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
        )

    @property
    def block_depth(self) -> int:
        """How many dimensions the Fourier transform has."""
        return self._depth

    @property
    def spectrum(self) -> Tensor:
        """The eigenvalues, in the order of the Fourier transform."""
        return self._spectrum

    @property
    def block_shape(self) -> TensorShape:
        """The static shape of one spectrum."""
        return self._spectrum.shape[-self._depth :]

    def block_shape_tensor(self) -> Tensor:
        """The shape of one spectrum."""
        return array_ops.shape(self._spectrum)[-self._depth :]

    def _shape(self) -> TensorShape:
        shape = self._spectrum.shape
        if shape.rank is None:
            return TensorShape.of(None)
        size = shape[-self._depth :].num_elements()
        return shape[: -self._depth].concatenate(TensorShape.of((size, size)))

    def _shape_tensor(self) -> Tensor:
        shape = array_ops.shape(self._spectrum)
        size = math_ops.reduce_prod(shape[-self._depth :])
        square = array_ops.stack([size, size])
        return array_ops.concat([shape[: -self._depth], square], axis=0)

    def _complex_spectrum(self) -> Tensor:
        return to_complex(self._spectrum)

    def _act(self, x: Tensor, factor: Tensor) -> Tensor:
        """Multiplies the Fourier transforms of the columns of x by a spectrum."""
        columns = math_ops.cast(array_ops.matrix_transpose(x), factor.dtype)
        shape = array_ops.shape(columns)
        blocks = array_ops.reshape(
            columns,
            array_ops.concat([shape[:-1], self.block_shape_tensor()], axis=0),
        )
        spectrum = array_ops.expand_dims(factor, axis=-self._depth - 1)
        made = _IFFT[self._depth](spectrum * _FFT[self._depth](blocks))
        wide = array_ops.shape(made)[: -self._depth]
        flat = array_ops.reshape(made, array_ops.concat([wide, shape[-1:]], axis=0))
        result = array_ops.matrix_transpose(flat)
        if x.shape.rank is not None and self.batch_shape.rank is not None:
            batch = array_ops.broadcast_static_shape(x.shape[:-2], self.batch_shape)
            result.set_shape(batch.concatenate(x.shape[-2:]))
        if not self._dtype.is_complex:
            result = math_ops.real(result)
        return math_ops.cast(result, self._dtype)  # type: ignore[no-any-return]

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Tensor:
        x = matrix_solve_ops.adjoint(x) if adjoint_arg else x
        spectrum = self._complex_spectrum()
        return self._act(x, math_ops.conj(spectrum) if adjoint else spectrum)

    def _solve(self, rhs: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        rhs = matrix_solve_ops.adjoint(rhs) if adjoint_arg else rhs
        spectrum = self._complex_spectrum()
        if adjoint:
            spectrum = math_ops.conj(spectrum)
        return self._act(rhs, 1.0 / spectrum)

    def _axes(self) -> list[int]:
        return list(range(-self._depth, 0))

    def _determinant(self) -> Tensor:
        product = math_ops.reduce_prod(self._spectrum, axis=self._axes())
        return _cast_down(product, self._dtype)

    def _log_abs_determinant(self) -> Tensor:
        logs = math_ops.log(math_ops.abs(self._spectrum))
        return math_ops.cast(  # type: ignore[no-any-return]
            math_ops.reduce_sum(logs, axis=self._axes()), self._dtype
        )

    def _trace(self) -> Tensor:
        total = math_ops.reduce_sum(self._spectrum, axis=self._axes())
        return _cast_down(total, self._dtype)

    def _diag_part(self) -> Tensor:
        size = self.domain_dimension_tensor()
        value = array_ops.expand_dims(self._trace(), -1)
        ones = array_ops.ones(array_ops.stack([size]), dtype=self._dtype)
        return value / math_ops.cast(size, self._dtype) * ones  # type: ignore[no-any-return]

    def convolution_kernel(self, name: str = "convolution_kernel") -> Tensor:
        """The kernel whose convolution the operator is."""
        with self._scope(name):
            kernel = _IFFT[self._depth](self._complex_spectrum())
            return _cast_down(kernel, self._dtype)

    def assert_hermitian_spectrum(self, name: str = "assert_hermitian_spectrum") -> Any:
        """An operation that fails if the operator would not map reals to reals."""
        epsilon = 1000 * 1.2e-7
        with self._scope(name):
            kernel = _IFFT[self._depth](self._complex_spectrum())
            imaginary = math_ops.abs(math_ops.imag(kernel))
            return check_ops.assert_less(
                imaginary,
                array_ops.ones_like(imaginary) * epsilon,
                message="Spectrum was not Hermitian",
            )

    def _assert_non_singular(self) -> Any:
        magnitude = math_ops.abs(self._spectrum)
        largest = math_ops.reduce_max(magnitude, axis=self._axes(), keepdims=True)
        return check_ops.assert_less(
            largest * 1e-6, magnitude, message="Singular value was too small"
        )

    def _assert_positive_definite(self) -> Any:
        return check_ops.assert_positive(
            math_ops.real(self._spectrum),
            message="Not positive definite:  Real part of spectrum was not all "
            "positive.",
        )

    def _assert_self_adjoint(self) -> Any:
        imaginary = math_ops.imag(self._spectrum)
        return check_ops.assert_equal(
            array_ops.zeros_like(imaginary),
            imaginary,
            message="Not self-adjoint:  The spectrum contained non-zero imaginary "
            "part.",
        )


@export("linalg.LinearOperatorCirculant")
class LinearOperatorCirculant(_BaseCirculant):
    """Circulant matrices, by their spectrum [B1, ..., Bb, N].

    Args:
      spectrum: the eigenvalues; the Fourier transform of the first column.
      input_output_dtype: of what the operator acts on and gives.
    """


@export("linalg.LinearOperatorCirculant2D")
class LinearOperatorCirculant2D(_BaseCirculant):
    """Block circulant matrices, by their spectrum [B1, ..., Bb, N0, N1]."""

    _depth = 2

    def __init__(
        self,
        spectrum: Any,
        input_output_dtype: Any = dtypes.complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str = "LinearOperatorCirculant2D",
    ) -> None:
        super().__init__(
            spectrum,
            input_output_dtype,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            is_square,
            name,
        )


@export("linalg.LinearOperatorCirculant3D")
class LinearOperatorCirculant3D(_BaseCirculant):
    """Nested block circulant matrices, by their spectrum [B1, ..., Bb, N0, N1, N2]."""

    _depth = 3

    def __init__(
        self,
        spectrum: Any,
        input_output_dtype: Any = dtypes.complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str = "LinearOperatorCirculant3D",
    ) -> None:
        super().__init__(
            spectrum,
            input_output_dtype,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            is_square,
            name,
        )


def to_complex(x: Tensor) -> Tensor:
    """The values in the complex dtype that a Fourier transform takes."""
    wide = (
        dtypes.complex128 if x.dtype.real_dtype == dtypes.float64 else dtypes.complex64
    )
    return math_ops.cast(x, wide)  # type: ignore[no-any-return]


def _cast_down(value: Tensor, dtype: Any) -> Tensor:
    if value.dtype.is_complex and not dtype.is_complex:
        value = math_ops.real(value)
    return math_ops.cast(value, dtype)  # type: ignore[no-any-return]
