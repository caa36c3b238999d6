"""Mixtures of Gaussians by expectation and maximization, in a graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.variables.variables import Variable
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, control_dependencies
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.fill import ones
from tensorloom.ops.array.identity import identity
from tensorloom.ops.array.pad import tile
from tensorloom.ops.array.permute import transpose
from tensorloom.ops.array.reshape import expand_dims, reshape, squeeze
from tensorloom.ops.array.shape import shape as shape_of
from tensorloom.ops.array.stack import stack
from tensorloom.ops.control_flow.builders import group, no_op
from tensorloom.ops.debugging import check
from tensorloom.ops.linalg.matmul import matmul
from tensorloom.ops.linalg.matrix_decomposition import cholesky
from tensorloom.ops.linalg.matrix_diag import diag, diag_part, matrix_diag_part
from tensorloom.ops.linalg.matrix_solve import matrix_triangular_solve
from tensorloom.ops.math.binary import squared_difference
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.elementwise import exp, log, square
from tensorloom.ops.nn.embedding import embedding_lookup
from tensorloom.ops.random.random_ops import random_uniform
from tensorloom.ops.reductions.aggregate import add_n
from tensorloom.ops.reductions.reductions import (
    argmax,
    reduce_logsumexp,
    reduce_mean,
    reduce_sum,
)
from tensorloom.ops.state.reference_variable import assign

# What is added to counts, which may be zero, and to variances.
_EPSILON = float(np.finfo(float).eps)
_LEAST_VARIANCE = 1e-3


@export("contrib.factorization.GmmAlgorithm")
class GmmAlgorithm:
    """The graph of a mixture of Gaussians over parts of data."""

    CLUSTERS_WEIGHT = "alphas"
    CLUSTERS_VARIABLE = "clusters"
    CLUSTERS_COVS_VARIABLE = "clusters_covs"

    def __init__(
        self,
        data: list[Any],
        num_classes: int,
        initial_means: Any = None,
        params: str = "wmc",
        covariance_type: str = "full",
        random_seed: int = 0,
    ) -> None:
        """Adds the graph.

        Args:
          data: a list of float32 tensors [examples, dimensions].
          num_classes: how many Gaussians.
          initial_means: their first means, [classes, dimensions]; examples drawn at
            random when None.
          params: what is learnt: "w" weights, "m" means, "c" covariances.
          covariance_type: "full", or "diag" for the variances alone.
          random_seed: of the draw.

        Raises:
          Exception: an unknown type of covariance.
        """
        if covariance_type not in ("full", "diag"):
            raise Exception(
                f"programmer error: Invalid covariance type: {covariance_type}"
            )
        self._params = params
        self._full = covariance_type == "full"
        self._classes = num_classes
        self._depth = shape_of(data[0])[1]
        self._least = diag(ones(stack([self._depth]))) * _LEAST_VARIANCE
        nothing = constant([], dtype=dtypes.float32)
        self._means = Variable(
            nothing, name=self.CLUSTERS_VARIABLE, validate_shape=False
        )
        self._covs = Variable(
            nothing, name=self.CLUSTERS_COVS_VARIABLE, validate_shape=False
        )
        self._alpha = Variable(
            tile([1.0 / num_classes], [num_classes]),
            name=self.CLUSTERS_WEIGHT,
            validate_shape=False,
        )
        self._initialized = Variable(False, dtype=dtypes.bool, name="initialized")
        if initial_means is None:
            initial_means = _drawn(data, num_classes, random_seed)
        self._init_op = self._initialize(data[0], initial_means)
        parts = [self._expect(points) for points in data]
        # Of each part: logarithm of the likelihood of each example, [examples, 1], and
        # how much it belongs to each class, [examples, classes].
        self._likelihoods = [likelihood for likelihood, _ in parts]
        self._memberships = [membership for _, membership in parts]
        self._train_op = self._maximize(data)
        totals = [reduce_logsumexp(likelihood) for likelihood in self._likelihoods]
        self._log_likelihood = reduce_logsumexp(totals)
        scores = [likelihood + log(membership) for likelihood, membership in parts]
        summed = reduce_logsumexp(scores, axis=2, keepdims=True)
        self._scores = squeeze(summed, axis=0)

    def init_ops(self) -> Any:
        """Chooses means and covariances, unless they are chosen already."""
        return self._init_op

    def training_ops(self) -> Any:
        """An expectation and a maximization."""
        return self._train_op

    def is_initialized(self) -> Any:
        """A variable: whether means and covariances are chosen."""
        return self._initialized

    def alphas(self) -> Any:
        """The variable of the weights, [classes]."""
        return self._alpha

    def clusters(self) -> Any:
        """The variable of the means, [classes, 1, dimensions]."""
        return self._means

    def covariances(self) -> Any:
        """The variable of the covariances.

        It is [classes, dimensions, dimensions], or variances [classes, dimensions].
        """
        return self._covs

    def assignments(self) -> list[Tensor]:
        """For each part of the data the likeliest class of each example."""
        return [argmax(membership, 1) for membership in self._memberships]

    def scores(self) -> Any:
        """The logarithms of the likelihoods of the examples, [examples, 1]."""
        return self._scores

    def log_likelihood_op(self) -> Any:
        """The logarithm of the sum of the likelihoods of all examples."""
        return self._log_likelihood

    def _initialize(self, points: Any, initial_means: Any) -> Any:
        means = expand_dims(initial_means, 1)
        cov = _covariance(points, not self._full) + self._least
        if self._full:
            covs = tile(expand_dims(cov, 0), [self._classes, 1, 1])
        else:
            covs = tile(expand_dims(diag_part(cov), 0), [self._classes, 1])
        with control_dependencies([means, covs]):
            known = identity(self._initialized)

        def choose() -> Any:
            stored = [
                assign(self._means, means, validate_shape=False),
                assign(self._covs, covs, validate_shape=False),
            ]
            with control_dependencies(stored):
                return assign(self._initialized, True).op

        return group(cond(known, no_op, choose))

    def _expect(self, points: Any) -> tuple[Any, Any]:
        """(logarithm of the likelihood, memberships) of examples."""
        density = self._full_density if self._full else self._diagonal_density
        logs = density(expand_dims(points, 0)) + log(self._alpha)
        likelihood = reduce_logsumexp(logs, axis=1, keepdims=True)
        shape = stack([shape_of(points)[0], self._classes])
        membership = reshape(exp(expand_dims(logs, 0) - likelihood), shape)
        return likelihood, membership

    def _constant(self) -> Any:
        return cast(self._depth, dtypes.float32) * log(2 * np.pi)

    def _full_density(self, points: Any) -> Any:
        """Logarithms of the densities, [examples, classes]; points have a first 1."""
        root = cholesky(self._covs + self._least)
        determinants = 2.0 * reduce_sum(log(matrix_diag_part(root)), 1)
        away = transpose(points - self._means, perm=[0, 2, 1])
        squares = square(matrix_triangular_solve(root, away, lower=True))
        distances = transpose(reduce_sum(squares, 1))
        return -0.5 * (distances + self._constant() + determinants)

    def _diagonal_density(self, points: Any) -> Any:
        variances: Any = self._covs.value() + _LEAST_VARIANCE
        determinants = transpose(reduce_sum(log(variances), 1, keepdims=True))
        squares = squared_difference(points, self._means)
        distances = matmul(squares, expand_dims(1.0 / variances, 2))
        distances = transpose(squeeze(distances, [2]))
        return -0.5 * (self._constant() + determinants + distances)

    def _maximize(self, data: list[Any]) -> Any:
        sums, squares, counts = [], [], []
        for points, membership in zip(data, self._memberships, strict=True):
            counts.append(reduce_sum(membership, 0, keepdims=True))
            products = matmul(membership, points, transpose_a=True)
            sums.append(expand_dims(products, 1))
            # [classes, dimensions, examples] by [classes, examples, dimensions]
            weighted = expand_dims(transpose(points), 0) * expand_dims(
                transpose(membership), 1
            )
            every = tile(expand_dims(points, 0), [self._classes, 1, 1])
            squares.append(matmul(weighted, every))
        with control_dependencies(self._memberships):
            count = squeeze(add_n(counts), axis=[0])
            ops = [self._update_weights(count, len(data))]
            column = reshape(count, [self._classes, 1, 1]) + _EPSILON
            moved: Any = no_op()
            if "m" in self._params:
                moved = self._means.assign(add_n(sums) / column)
            with control_dependencies([moved]):
                covs = self._new_covariances(add_n(squares) / column)
            # As in TensorFlow, means stay where covariances do: "m" needs "c".
            if "c" in self._params:
                with control_dependencies([moved, covs]):
                    ops.append(assign(self._covs, covs, validate_shape=False))
        return group(*ops)

    def _update_weights(self, count: Any, parts: int) -> Any:
        if "w" not in self._params:
            return no_op()
        count = count / parts
        total = cast(reduce_sum(count), dtypes.float32)
        return self._alpha.assign(count / (total + _EPSILON))

    def _new_covariances(self, squares: Any) -> Any:
        found = []
        for index in range(self._classes):
            mean = self._means.value()[index, :, :]
            product = matmul(mean, mean, transpose_a=True)
            cov = squares[index, :, :] - product + self._least
            found.append(expand_dims(cov if self._full else diag_part(cov), 0))
        return concat(found, 0)


def _covariance(points: Any, diagonal: bool) -> Any:
    """The covariance [depth, depth] of points, or the variances [1, depth]."""
    count = cast(shape_of(points)[0], dtypes.float32)
    points = points - reduce_mean(points, 0, keepdims=True)
    if diagonal:
        return reduce_sum(square(points), 0, keepdims=True) / (count - 1)
    return matmul(points, points, transpose_a=True) / (count - 1)


def _drawn(data: list[Any], count: int, seed: int) -> Any:
    """So many examples, drawn at random."""
    total = add_n([shape_of(points)[0] for points in data])
    with control_dependencies([check.assert_less_equal(count, total)]):
        rows = random_uniform(
            [count],
            minval=0,
            maxval=cast(total, dtypes.int64),
            seed=seed,
            dtype=dtypes.int64,
        )
    rows = rows % cast(total, dtypes.int64)
    return embedding_lookup(data, rows, partition_strategy="div")


@export("contrib.factorization.gmm")
def gmm(
    inp: Any,
    initial_clusters: Any,
    num_clusters: int,
    random_seed: int,
    covariance_type: str = "full",
    params: str = "wmc",
) -> tuple[Any, Any, list[Any], Any, Any, Any]:
    """Adds a mixture of Gaussians to the default graph.

    Args:
      inp: a float32 tensor [examples, dimensions], or a list of them.
      initial_clusters: "random", or the first means, [classes, dimensions].
      num_clusters: how many Gaussians.
      random_seed: of the draw of the first means.
      covariance_type: "full", or "diag" for the variances alone.
      params: what is learnt: "w" weights, "m" means, "c" covariances.

    Returns:
      (logarithm of the sum of the likelihoods; logarithms of the likelihoods of the
      examples, [examples, 1]; a list with the list of the likeliest classes; the
      operation that trains; the one that chooses means and covariances; the variable
      that says whether they are chosen).

    Raises:
      Exception: an unknown type of covariance.
    """
    means = initial_clusters
    if isinstance(means, str) and means == "random":
        means = None
    elif not isinstance(means, Tensor):
        means = constant(means, dtype=dtypes.float32)
    data = inp if isinstance(inp, list) else [inp]
    model = GmmAlgorithm(
        data, num_clusters, means, params, covariance_type, random_seed
    )
    return (
        model.log_likelihood_op(),
        model.scores(),
        [model.assignments()],
        model.training_ops(),
        model.init_ops(),
        model.is_initialized(),
    )
