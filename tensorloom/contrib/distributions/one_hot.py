"""Distributions of one class of many: as a one-hot vector, and relaxed to numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.contrib.distributions.bijectors.scalar_maps import Exp, Sigmoid
from tensorloom.contrib.distributions.continuous import Logistic
from tensorloom.contrib.distributions.transformed import TransformedDistribution
from tensorloom.distributions.class_probabilities import get_logits_and_probs
from tensorloom.distributions.distribution import Distribution
from tensorloom.distributions.divergence import RegisterKL
from tensorloom.distributions.parameters import (
    checked,
    positive,
    read_after,
)
from tensorloom.distributions.reparameterization import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, control_dependencies, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops
from tensorloom.ops.random import random_ops

if TYPE_CHECKING:
    from tensorloom.framework.types.tensor_shape import TensorShape


class _Classes(Distribution):
    """Vectors with a number for each class, of logits [batch..., classes]."""

    _logits: Tensor
    _probs: Tensor
    _event_size: Any

    def _read(self, logits: Any, probs: Any, validate_args: bool, name: str) -> None:
        self._logits, self._probs = get_logits_and_probs(
            logits, probs, True, validate_args, name
        )

    def _read_size(self) -> None:
        with name_scope("event_size"):
            self._event_size = array_ops.shape(self._logits)[-1]

    @property
    def event_size(self) -> Any:
        """The number of classes, an int32 scalar."""
        return self._event_size

    @property
    def logits(self) -> Tensor:
        """The log-odds."""
        return self._logits

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        return self._probs

    def _batch_shape_tensor(self) -> Any:
        return array_ops.shape(self.logits)[:-1]

    def _batch_shape(self) -> TensorShape:
        return self.logits.shape[:-1]

    def _event_shape_tensor(self) -> Any:
        return array_ops.shape(self.logits)[-1:]

    def _event_shape(self) -> TensorShape:
        return self.logits.shape.with_rank_at_least(1)[-1:]

    def _checked_logs(self, x: Tensor) -> Any:
        """The logarithms of probabilities, after checks that they are that."""
        if not self.validate_args:
            return x
        zero = array_ops.zeros([], dtype=self.dtype)
        total = math_ops.reduce_logsumexp(x, axis=[-1])
        checks = [
            check_ops.assert_non_positive(x),
            check_ops.assert_near(zero, total),
        ]
        return checked(x, checks)

    def _rows(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """A value and the logits as matrices, and the shape of the batch."""
        logits = self.logits
        same = x.shape.is_fully_defined() and logits.shape.is_fully_defined()
        if not same or x.shape.as_list() != logits.shape.as_list():
            logits = array_ops.ones_like(x, dtype=logits.dtype) * logits
            x = array_ops.ones_like(logits, dtype=x.dtype) * x
        shape = array_ops.shape(logits)[:-1]
        rows = [-1, self.event_size]
        return array_ops.reshape(x, rows), array_ops.reshape(logits, rows), shape


@export("contrib.distributions.OneHotCategorical")
class OneHotCategorical(_Classes):
    """One class, as a vector of zeros with a one at its place.

    Args:
      logits: the log-odds [batch..., classes]; these or `probs`.
      probs: the probabilities.
      dtype: of the draws.
      validate_args: whether steps check arguments.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.
    """

    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = dtypes.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "OneHotCategorical",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as name:
            self._read(logits, probs, validate_args, name)
            self._read_size()
        super().__init__(
            dtype=dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._logits, self._probs],
            name=name,
        )

    def _sample_n(self, n: Tensor, seed: Any = None) -> Any:
        shape = array_ops.concat([[n], array_ops.shape(self.logits)], 0)
        logits = self.logits
        if logits.shape.ndims != 2:
            logits = array_ops.reshape(logits, [-1, self.event_size])
        drawn = array_ops.transpose(random_ops.multinomial(logits, n, seed=seed))
        one_hot = array_ops.one_hot(drawn, self.event_size, dtype=self.dtype)
        return array_ops.reshape(one_hot, shape)

    def _log_prob(self, x: Tensor) -> Any:
        x, logits, shape = self._rows(self._checked_logs(x))
        losses = nn_ops.softmax_cross_entropy_with_logits(labels=x, logits=logits)
        return array_ops.reshape(-losses, shape)

    def _entropy(self) -> Any:
        return -math_ops.reduce_sum(
            nn_ops.log_softmax(self.logits) * self.probs, axis=-1
        )

    def _mode(self) -> Any:
        best = math_ops.argmax(self.logits, axis=-1)
        mode = array_ops.one_hot(best, self.event_size, dtype=self.dtype)
        mode.set_shape(self.logits.shape)
        return mode

    def _variance(self) -> Any:
        return self.probs * (1.0 - self.probs)

    def _covariance(self) -> Any:
        p = self.probs
        products = -math_ops.matmul(p[..., None], p[..., None, :])
        return array_ops.matrix_set_diag(products, self._variance())


@RegisterKL(OneHotCategorical, OneHotCategorical)
def _kl_of_one_hot(a: Any, b: Any, name: str | None = None) -> Tensor:
    with name_scope(name, "kl_categorical_categorical", [a.logits, b.logits]):
        apart = nn_ops.log_softmax(a.logits) - nn_ops.log_softmax(b.logits)
        return math_ops.reduce_sum(nn_ops.softmax(a.logits) * apart, axis=-1)


@export("contrib.distributions.ExpRelaxedOneHotCategorical")
class ExpRelaxedOneHotCategorical(_Classes):
    """The logarithms of `RelaxedOneHotCategorical`'s draws.

    Args:
      temperature: the lower, the nearer to one-hot vectors.
      logits: the log-odds [batch..., classes]; these or `probs`.
      probs: the probabilities.
      dtype: of the draws; the logits' if None.
      validate_args: whether steps check arguments.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.
    """

    def __init__(
        self,
        temperature: Any,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "ExpRelaxedOneHotCategorical",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs, temperature]) as name:
            self._read(logits, probs, validate_args, name)
            if dtype is None:
                dtype = self._logits.dtype
                if not validate_args:
                    temperature = math_ops.cast(temperature, dtype)
            with control_dependencies(positive(validate_args, temperature)):
                self._temperature = array_ops.identity(temperature, name="temperature")
                self._temperature_2d = array_ops.reshape(
                    temperature, [-1, 1], name="temperature_2d"
                )
            self._read_size()
        super().__init__(
            dtype=dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._logits, self._probs, self._temperature],
            name=name,
        )

    @property
    def temperature(self) -> Tensor:
        """The lower, the nearer to one-hot vectors."""
        return self._temperature

    def _sample_n(self, n: Tensor, seed: Any = None) -> Any:
        shape = array_ops.concat([[n], array_ops.shape(self.logits)], 0)
        logits = self.logits * array_ops.ones(shape, dtype=self.dtype)
        rows = array_ops.reshape(logits, [-1, self.event_size])
        drawn = random_ops.random_uniform(
            array_ops.shape(rows),
            minval=np.finfo(self.dtype.as_numpy_dtype).tiny,
            maxval=1.0,
            dtype=self.dtype,
            seed=seed,
        )
        gumbel = -math_ops.log(-math_ops.log(drawn))
        noisy = math_ops.div(gumbel + rows, self._temperature_2d)
        return array_ops.reshape(nn_ops.log_softmax(noisy), shape)

    def _log_prob(self, x: Tensor) -> Any:
        x, logits, shape = self._rows(self._checked_logs(x))
        classes = math_ops.cast(self.event_size, x.dtype)
        norm = math_ops.lgamma(classes)
        norm += (classes - 1.0) * math_ops.log(self.temperature)
        logs = nn_ops.log_softmax(logits - x * self._temperature_2d)
        return array_ops.reshape(norm + math_ops.reduce_sum(logs, [-1]), shape)


@export("contrib.distributions.RelaxedOneHotCategorical")
class RelaxedOneHotCategorical(TransformedDistribution):
    """Vectors of positive numbers whose sum is one, near to one-hot vectors.

    Also known as the Gumbel-softmax or concrete distribution (Jang et al., 2016;
    Maddison et al., 2016): a continuous stand-in for `OneHotCategorical`, with
    gradients.

    Args:
      temperature: the lower, the nearer to one-hot vectors.
      logits: the log-odds [batch..., classes]; these or `probs`.
      probs: the probabilities.
      dtype: of the draws; the logits' if None.
      validate_args: whether steps check arguments.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.
    """

    def __init__(
        self,
        temperature: Any,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "RelaxedOneHotCategorical",
    ) -> None:
        logs = ExpRelaxedOneHotCategorical(
            temperature,
            logits=logits,
            probs=probs,
            dtype=dtype,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
        )
        super().__init__(logs, Exp(), name=name)


@export("contrib.distributions.RelaxedBernoulli")
class RelaxedBernoulli(TransformedDistribution):
    """Numbers between zero and one, near to one of them: a stand-in for `Bernoulli`.

    Args:
      temperature: the lower, the nearer to zero and one.
      logits: the log-odds of a one; these or `probs`.
      probs: the probability of a one.
      validate_args: whether steps check arguments.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.
    """

    def __init__(
        self,
        temperature: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "RelaxedBernoulli",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs, temperature]) as name:
            checks = positive(validate_args, temperature)
            (self._temperature,) = read_after(checks, temperature=temperature)
            self._logits, self._probs = get_logits_and_probs(
                logits, probs, False, validate_args, name
            )
            logistic = Logistic(
                self._logits / self._temperature,
                1.0 / self._temperature,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=f"{name}/Logistic",
            )
            super().__init__(
                logistic,
                bijector=Sigmoid(validate_args=validate_args),
                validate_args=validate_args,
                name=name,
            )
        self._parameters = parameters

    @property
    def temperature(self) -> Tensor:
        """The lower, the nearer to zero and one."""
        return self._temperature

    @property
    def logits(self) -> Tensor:
        """The log-odds of a one."""
        return self._logits

    @property
    def probs(self) -> Tensor:
        """The probability of a one."""
        return self._probs
