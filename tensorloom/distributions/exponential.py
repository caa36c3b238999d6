"""The exponential distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.distributions.gamma import Gamma
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.random import random_ops


@export("distributions.Exponential")
class Exponential(Gamma):
    """Draws that are `1 / rate` on average: a gamma of concentration one."""

    def __init__(
        self,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Exponential",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[rate]) as name:
            self._rate = convert_to_tensor(rate, name="rate")
        super().__init__(
            concentration=array_ops.ones([], dtype=self._rate.dtype),
            rate=self._rate,
            allow_nan_stats=allow_nan_stats,
            validate_args=validate_args,
            name=name,
        )
        self._parameters = parameters
        self._graph_parents += [self._rate]

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict[str, Tensor]:
        shape = convert_to_tensor(sample_shape, dtype=dtypes.int32)
        return dict.fromkeys(("rate",), shape)

    def _log_survival_function(self, x: Tensor) -> Tensor:
        return self._log_prob(x) - math_ops.log(self._rate)

    def _sample_n(self, n: Tensor, seed: Any = None) -> Tensor:
        shape = array_ops.concat([[n], array_ops.shape(self._rate)], 0)
        drawn = random_ops.random_uniform(
            shape,
            minval=np.finfo(self.dtype.as_numpy_dtype).tiny,
            maxval=1.0,
            seed=seed,
            dtype=self.dtype,
        )
        return -math_ops.log(drawn) / self._rate
