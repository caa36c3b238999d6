"""A round of stochastic dual coordinate ascent over a batch of examples."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.array.allocation import shape_text
from tensorloom.kernels.host.training.sdca_losses import LOSSES, Loss, Point

_Array = NDArray[Any]
# An example that was drawn comes again with a tenth of the chance.
_DECAY: Final = 0.1


@dataclass(slots=True)
class _Regularization:
    l2: Any  # a number of NumPy
    shrinkage: float  # l1 / l2

    def shrink(self, weights: _Array) -> _Array:
        """Weights moved toward zero, in doubles."""
        kept = np.maximum(np.abs(weights) - self.shrinkage, 0.0)
        result: _Array = np.copysign(kept, weights)
        return result


class _Group:
    """One group of features: its weights, and the features of each example.

    Attributes:
      nominal: the weights at the start of the round.
      delta: what the round adds to them so far, of their size.
    """

    def __init__(self, weights: _Array, columns: list[Any], values: list[Any]) -> None:
        self.nominal = weights.reshape(-1)
        self.delta = np.zeros(self.nominal.size, np.float32)
        self._columns = columns
        self._values = values

    def squared_norm(self, example: int) -> float:
        """Of an example's values."""
        values = self._values[example]
        return float((values * values).sum())

    def predictions(
        self, example: int, partitions: int, by: _Regularization
    ) -> tuple[float, float]:
        """With the weights at the start of the round, and with those of now."""
        columns, values = self._columns[example], self._values[example]
        nominal = self.nominal[columns]
        now = nominal + self.delta[columns] * np.float32(partitions)
        return (
            float((values * by.shrink(nominal)).sum()),
            float((values * by.shrink(now)).sum()),
        )

    def add(self, example: int, step: float) -> None:
        """Moves the weights along the example."""
        columns = self._columns[example]
        moved = self.delta[columns] + self._values[example] * step
        self.delta[columns] = moved.astype(np.float32)


def _sparse_group(
    examples: int,
    owners: _Array,
    features: _Array,
    values: _Array | None,
    indices: _Array,
    weights: _Array,
) -> _Group:
    """The features of a sparse group, found among the weights' indices.

    Raises: InvalidArgumentError for features without a weight, or that come twice in
      an example.
    """
    if len(owners) != len(features) or (
        values is not None and values.size != len(features)
    ):
        raise invalid_argument(
            f"Sparse features of {len(owners)} examples, {len(features)} indices and "
            f"{len(features) if values is None else values.size} values"
        )
    given = (
        np.ones(len(features))
        if values is None
        else values.reshape(-1).astype(np.float64)
    )
    rows = _rows_of(features, indices, weights.size)
    edges = _edges(owners, examples)
    columns = [rows[a:b] for a, b in edges]
    for one in columns:
        if len(np.unique(one)) != len(one):
            raise invalid_argument("Duplicate index in sparse vector.")
    return _Group(weights, columns, [given[a:b] for a, b in edges])


def _rows_of(features: _Array, indices: _Array, count: int) -> _Array:
    if indices.size != count:
        raise invalid_argument(f"Got {indices.size} sparse indices for {count} weights")
    order = np.argsort(indices, kind="stable")
    places = np.searchsorted(indices, features, sorter=order)
    rows: _Array = order[np.minimum(places, max(count - 1, 0))] if count else places
    known = indices[rows] == features if count else np.zeros(len(features), bool)
    if not known.all():
        wrong = features[np.flatnonzero(~known)[0]]
        raise invalid_argument(
            f"Found sparse feature indices out of valid range: {wrong}"
        )
    return rows


def _edges(owners: _Array, examples: int) -> list[tuple[int, int]]:
    """Where each example's features begin and end; what is out of order is none's."""
    edges, end, given = [], 0, owners.tolist()
    for example in range(examples):
        start = end
        while end < len(given) and given[end] == example:
            end += 1
        edges.append((start, end))
    return edges


def _dense_group(examples: int, features: _Array, weights: _Array) -> _Group:
    if features.ndim != 2 or len(features) != examples:
        raise invalid_argument(
            f"Expected dense features of {examples} examples, got "
            f"{shape_text(features.shape)}"
        )
    width = features.shape[1]
    if width > weights.size:
        raise invalid_argument(
            f"More dense features than we have parameters for: {width}"
        )
    columns = [slice(0, width)] * examples
    return _Group(weights, columns, list(features.astype(np.float64)))


@dataclass(slots=True)
class _Round:
    """The examples and weights of a round."""

    groups: list[_Group]
    loss: Loss
    regularization: _Regularization
    partitions: int
    labels: _Array
    weights: _Array
    state: _Array  # [examples, 4]: dual, primal loss, dual loss, weight

    def run(self, order: Any) -> None:
        """Visits examples in this order."""
        norms = self.norms()
        for example in order:
            self._visit(int(example), norms[example])

    def norms(self) -> list[float]:
        """The squared norm of each example."""
        return [
            sum(group.squared_norm(example) for group in self.groups)
            for example in range(len(self.labels))
        ]

    def predictions(self, example: int) -> tuple[float, float]:
        """Of the start of the round, and of now."""
        parts = [
            group.predictions(example, self.partitions, self.regularization)
            for group in self.groups
        ]
        return sum(part[0] for part in parts), sum(part[1] for part in parts)

    def _visit(self, example: int, norm: float) -> None:
        weight = float(self.weights[example])
        label = self.loss.label(float(self.labels[example]))
        dual = float(self.state[example, 0])
        before, wx = self.predictions(example)
        l2 = self.regularization.l2
        scaled = float(self.partitions * norm / l2)
        new_dual = self.loss.updated_dual(Point(label, weight, dual, wx, scaled))
        step = float((new_dual - dual) * weight / l2)
        for group in self.groups:
            group.add(example, step)
        self.state[example] = (
            new_dual,
            self.loss.primal(before, label, weight),
            self.loss.dual(dual, label, weight),
            weight,
        )

    def importances(self) -> _Array:
        """How much a visit may help, up to a factor (Csiba et al., AdaSDCA, 2015)."""
        result = np.zeros(len(self.labels))
        for example, norm in enumerate(self.norms()):
            label = self.loss.label(float(self.labels[example]))
            wx = self.predictions(example)[1]
            residue = float(self.state[example, 0]) + self.loss.derivative(wx, label)
            spread = norm + self.regularization.l2 * self.loss.smoothness
            weight = float(self.weights[example])
            result[example] = weight * math.sqrt(float(spread)) * abs(residue)
        return result


def _adaptive_order(importances: _Array) -> list[int]:
    """Examples by importance, some of them more than once; then those not seen."""
    count, total = len(importances), importances.sum()
    likely = importances / total if 0 < total < math.inf else None
    random = np.random.default_rng()
    order: list[int] = []
    seen = [0] * count
    for example in random.choice(count, 2 * count, p=likely).tolist() if count else []:
        if len(order) < count and random.random() <= _DECAY ** seen[example]:
            seen[example] += 1
            order.append(example)
    rest = [e for e in np.argsort(-importances).tolist() if not seen[e]]
    return order + rest[: count - len(order)]


def _groups(c: OpKernelConstruction, given: tuple[_Array, ...]) -> list[_Group]:
    sparse = c["num_sparse_features"]
    valued = c["num_sparse_features_with_values"]
    dense = c["num_dense_features"]
    if valued > sparse:
        raise invalid_argument(
            f"{valued} groups of values for {sparse} of sparse features"
        )
    parts: list[list[Any]] = []
    rest = list(given)
    for size in (sparse, sparse, valued, dense, 2, sparse, sparse, dense):
        parts.append(rest[:size])
        rest = rest[size:]
    owners, features, values, matrices, (weights, _), indices, nominal, flat = parts
    values += [None] * (sparse - valued)
    # Sparse features are vectors, of whatever shape they come in.
    owners, features, indices = (
        [np.ravel(one) for one in group] for group in (owners, features, indices)
    )
    columns = zip(owners, features, values, indices, nominal, strict=True)
    count = weights.size
    return [_sparse_group(count, *one) for one in columns] + [
        _dense_group(count, *one) for one in zip(matrices, flat, strict=True)
    ]


def _check(weights: _Array, labels: _Array, state: _Array) -> None:
    if weights.shape != labels.shape or weights.ndim != 1:
        raise invalid_argument(
            f"Expected weights and labels of the same number of examples, got "
            f"{shape_text(weights.shape)} and {shape_text(labels.shape)}"
        )
    if state.shape != (len(weights), 4):
        raise invalid_argument(
            f"Expected shape [{len(weights)},4] for example_state_data, got "
            f"{shape_text(state.shape)}"
        )


@host_kernel(["SdcaOptimizer", "SdcaOptimizerV2"], large=True)
def sdca_optimizer(c: OpKernelConstruction) -> Compute:
    """New states of the examples, and what to add to the weights."""
    loss = LOSSES[c["loss_type"]]
    # Without l2 steps are infinite: NumPy divides by zero, Python does not.
    l1, l2 = np.float64(c["l1"]), np.float64(c["l2"])
    by = _Regularization(l2, float(l1 / l2) if l2 else math.inf)
    adaptive = c.get("adaptive", False) or c.get("adaptative", False)
    before = 2 * c["num_sparse_features"] + c["num_sparse_features_with_values"]
    place = before + c["num_dense_features"]

    def compute(*given: Any) -> tuple[_Array, ...]:
        weights, labels, state = given[place], given[place + 1], given[-1].copy()
        _check(weights, labels, state)
        groups = _groups(c, given)
        work = _Round(
            groups, loss, by, c["num_loss_partitions"], labels, weights, state
        )
        if adaptive:
            order: Any = _adaptive_order(work.importances())
        else:
            order = np.random.default_rng().permutation(len(labels))
        work.run(order)
        deltas = [
            group.delta.reshape(held.shape)
            for group, held in zip(groups, _weights(c, given), strict=True)
        ]
        return (state, *deltas)

    return compute


def _weights(c: OpKernelConstruction, given: tuple[Any, ...]) -> tuple[Any, ...]:
    count = c["num_sparse_features"] + c["num_dense_features"]
    return given[len(given) - 1 - count : -1]
