"""Mappings whose inner products are nearly a kernel's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.constant import constant
from tensorloom.ops.linalg.matmul import matmul
from tensorloom.ops.math.binary import add
from tensorloom.ops.math.elementwise import cos


class InvalidShapeError(Exception):
    """What is to be mapped is no matrix of the mapping's input size."""


class DenseKernelMapper:
    """A mapping of dense tensors.

    Attributes:
      name: of the mapping.
      output_dim: the size of what it gives.
    """

    name: Any
    output_dim: Any

    def map(self, input_tensor: Any) -> Any:
        """`[batch, output_dim]` of `[batch, input_dim]`."""
        raise NotImplementedError(f"map is not implemented for {self}.")


@export("contrib.kernel_methods.RandomFourierFeatureMapper")
class RandomFourierFeatureMapper(DenseKernelMapper):
    """Random Fourier features of the Gaussian kernel.

    From "Random Features for Large-Scale Kernel Machines" by A. Rahimi and B. Recht,
    2007.

    Args:
      input_dim: the size of what is mapped.
      output_dim: the size of the features; with more, products are nearer to it.
      stddev: of the kernel.
      seed: of the mapping, which is the same for the same seed.
      name: of the mapping.
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        stddev: float = 1.0,
        seed: int = 1,
        name: str | None = None,
    ) -> None:
        self._input_dim = input_dim
        self._output_dim = output_dim
        self._stddev = stddev
        self._seed = seed
        self._name = name

    @property
    def name(self) -> str:
        """The name, or one of its own."""
        return self._name or str(id(self))

    @property
    def input_dim(self) -> int:
        """The size of what is mapped."""
        return self._input_dim

    @property
    def output_dim(self) -> int:
        """The size of the features."""
        return self._output_dim

    def map(self, input_tensor: Any) -> Any:
        """The features `[batch, output_dim]`.

        Args:
          input_tensor: float32 `[batch, input_dim]`.

        Raises:
          InvalidShapeError: another shape.
        """
        shape = input_tensor.get_shape()
        if len(shape) != 2:
            raise InvalidShapeError(
                f"The shape of the tensor should be 2. Got {len(shape)} instead."
            )
        size = shape.as_list()[1]
        if size != self._input_dim:
            raise InvalidShapeError(
                f"Invalid dimension: expected {self._input_dim} input features, got "
                f"{size} instead."
            )
        random = np.random.RandomState(self._seed)
        directions = random.normal(
            scale=1.0 / self._stddev, size=[self._input_dim, self._output_dim]
        )
        phases = random.uniform(low=0.0, high=2 * np.pi, size=[self._output_dim])
        angles = add(
            matmul(input_tensor, constant(directions, dtype=dtypes.float32)),
            constant(phases, dtype=dtypes.float32),
        )
        return math.sqrt(2.0 / self._output_dim) * cos(angles)
