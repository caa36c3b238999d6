"""The Laplace distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorloom.distributions.distribution import Distribution
from tensorloom.distributions.parameters import (
    common_shape,
    common_shape_tensor,
    positive,
    read_after,
)
from tensorloom.distributions.reparameterization import (
    FULLY_REPARAMETERIZED,
)
from tensorloom.distributions.special_math import log_cdf_laplace
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check_type as check_type_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.random import random_ops


@export("distributions.Laplace")
class Laplace(Distribution):
    """Draws whose distance from `loc` falls off exponentially."""

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Laplace",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale]) as name:
            checks = positive(validate_args, scale)
            self._loc, self._scale = read_after(checks, loc=loc, scale=scale)
            check_type_ops.assert_same_float_dtype([self._loc, self._scale])
        super().__init__(
            dtype=self._loc.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._loc, self._scale],
            name=name,
        )

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict[str, Tensor]:
        shape = convert_to_tensor(sample_shape, dtype=dtypes.int32)
        return dict.fromkeys(("loc", "scale"), shape)

    @property
    def loc(self) -> Tensor:
        """The mean."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The mean distance."""
        return self._scale

    def _batch_shape_tensor(self) -> Tensor:
        return common_shape_tensor(self.loc, self.scale)

    def _batch_shape(self) -> TensorShape:
        return common_shape(self.loc, self.scale)

    def _event_shape_tensor(self) -> Tensor:
        return convert_to_tensor([], dtype=dtypes.int32)

    def _event_shape(self) -> TensorShape:
        return TensorShape([])

    def _sample_n(self, n: Tensor, seed: Any = None) -> Tensor:
        shape = array_ops.concat([[n], self.batch_shape_tensor()], 0)
        kind = self.dtype.as_numpy_dtype
        drawn = random_ops.random_uniform(
            shape,
            minval=np.nextafter(kind(-1.0), kind(0.0)),
            maxval=1.0,
            dtype=self.dtype,
            seed=seed,
        )
        side = math_ops.sign(drawn)
        return self.loc - self.scale * side * math_ops.log1p(-math_ops.abs(drawn))

    def _log_prob(self, x: Tensor) -> Tensor:
        distance = -math_ops.abs(self._z(x))
        return distance - (math.log(2.0) + math_ops.log(self.scale))

    def _prob(self, x: Tensor) -> Tensor:
        return math_ops.exp(self._log_prob(x))

    def _cdf(self, x: Tensor) -> Tensor:
        z = self._z(x)
        half_side = 0.5 * math_ops.sign(z)
        return 0.5 + half_side * (1.0 - math_ops.exp(-math_ops.abs(z)))

    def _log_cdf(self, x: Tensor) -> Tensor:
        return log_cdf_laplace(self._z(x))

    def _log_survival_function(self, x: Tensor) -> Tensor:
        return log_cdf_laplace(-self._z(x))

    def _entropy(self) -> Tensor:
        scale = self.scale + array_ops.zeros_like(self.loc)
        return math.log(2.0) + 1.0 + math_ops.log(scale)

    def _mean(self) -> Tensor:
        return self.loc + array_ops.zeros_like(self.scale)

    def _mode(self) -> Tensor:
        return self._mean()

    def _stddev(self) -> Tensor:
        return math.sqrt(2.0) * self.scale + array_ops.zeros_like(self.loc)

    def _z(self, x: Tensor) -> Tensor:
        return (x - self.loc) / self.scale
