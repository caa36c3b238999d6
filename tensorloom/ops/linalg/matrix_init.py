"""Initializers for matrices: orthogonal and identity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.linalg import builders as linalg_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.random import random_ops
from tensorloom.ops.state.initializers import Initializer, float_dtype

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


@export("initializers.orthogonal", "orthogonal_initializer")
class Orthogonal(Initializer):
    """A matrix with orthonormal rows or columns, times `gain`.

    Leading dimensions are flattened into the rows. From the QR decomposition of a
    normal matrix, with the signs that make it uniform.
    """

    def __init__(
        self,
        gain: float = 1.0,
        seed: int | None = None,
        dtype: Any = dtypes.float32,
    ) -> None:
        self.gain = gain
        self.dtype = float_dtype(dtype)
        self.seed = seed

    def __call__(
        self, shape: Any, dtype: Any = None, partition_info: Any = None
    ) -> Tensor:
        dtype = self.dtype if dtype is None else dtype
        if len(shape) < 2:
            raise ValueError(
                "The tensor to initialize must be at least two-dimensional"
            )
        rows = 1
        for size in shape[:-1]:
            rows *= int(size)
        columns = int(shape[-1])
        flat_shape = (max(rows, columns), min(rows, columns))
        normal = random_ops.random_normal(flat_shape, dtype=dtype, seed=self.seed)
        q, r = apply_op("Qr", input=normal, full_matrices=False)
        q *= math_ops.sign(array_ops.diag_part(r))
        if rows < columns:
            q = array_ops.matrix_transpose(q)
        return self.gain * array_ops.reshape(q, shape)

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain, "seed": self.seed, "dtype": self.dtype.name}


@export("initializers.identity")
class Identity(Initializer):
    """The identity matrix, times `gain`."""

    def __init__(self, gain: float = 1.0, dtype: Any = dtypes.float32) -> None:
        self.gain = gain
        self.dtype = float_dtype(dtype)

    def __call__(
        self, shape: Any, dtype: Any = None, partition_info: Any = None
    ) -> Tensor:
        full_shape = shape if partition_info is None else partition_info.full_shape
        if len(full_shape) != 2:
            raise ValueError(
                "Identity matrix initializer can only be used for 2D matrices."
            )
        dtype = self.dtype if dtype is None else dtype
        if isinstance(full_shape, TensorShape):
            full_shape = full_shape.as_list()
        rows, columns = full_shape
        matrix = linalg_ops.eye(rows, columns, dtype=dtype)
        if partition_info is not None:
            matrix = array_ops.slice(matrix, partition_info.var_offset, shape)
        return self.gain * matrix

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain, "dtype": self.dtype.name}
