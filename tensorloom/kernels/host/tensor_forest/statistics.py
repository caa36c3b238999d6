"""What a leaf has seen, and how it would be divided by each of its candidate splits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tensorloom.kernels.host.tensor_forest.candidate_checks import checks_of
from tensorloom.kernels.host.tensor_forest.inputs import EQUAL, Draws, Inputs, goes_left
from tensorloom.kernels.host.tensor_forest.messages import (
    read_split,
    read_values,
    write_sparse,
    write_split,
    write_values,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tensorloom.kernels.host.tensor_forest.parameters import Parameters
    from tensorloom.protos.fertile_stats_pb2 import FertileSlot

_F = np.float32


class Targets(NamedTuple):
    """The labels, [examples, outputs], and weights of a batch."""

    labels: Any
    weights: Any


class Split(NamedTuple):
    """A split, and the values of the leaves on its two sides."""

    feature: int
    test: int
    threshold: float
    left: Any
    right: Any


class Slot(ABC):
    """The statistics of one leaf.

    Of each candidate it holds the sums of the examples that go left: `left` is [splits,
    columns], `total` [columns].
    """

    def __init__(self, parameters: Parameters, depth: int, columns: int) -> None:
        self.depth = depth
        self._parameters = parameters
        self._wanted = parameters.splits(depth)
        self._split_after = parameters.split_after(depth)
        self.weight = _F(0)
        self._features: list[int] = []
        self._tests: list[int] = []
        self._thresholds: list[float] = []
        # What examples are compared with: it stays when a threshold is averaged.
        self._compared: list[float] = []
        # The class that a threshold was made with, until one of another class is seen.
        self._half_made: dict[int, int] = {}
        self._left = np.zeros((0, columns), np.float32)
        self._total = np.zeros(columns, np.float32)

    @property
    def is_initialized(self) -> bool:
        """Whether all candidates are there."""
        full = len(self._features) == self._wanted and not self._half_made
        return bool(self.weight > 0) or full

    def add_candidate(
        self, inputs: Inputs, targets: Targets, row: int, draws: Draws
    ) -> bool:
        """Makes a candidate of a random feature of an example, if one is missing.

        Gives whether the slot is initialized now.
        """
        sample = inputs.sample(row, draws)
        if sample is None:
            return False
        feature, value, is_category = sample
        proto = self._parameters.proto
        test = EQUAL if is_category else int(proto.inequality_test_type)
        averages = (
            proto.initialize_average_splits and not self._parameters.is_regression
        )
        label = int(targets.labels[row, 0])
        if len(self._features) < self._wanted:
            self._append(feature, test, value)
            if averages and test != EQUAL:
                self._half_made[len(self._features) - 1] = label
        if averages:
            self._average(inputs, row, label)
        return self.is_initialized

    def _average(self, inputs: Inputs, row: int, label: int) -> None:
        for split, known in list(self._half_made.items()):
            if known != label:
                value = inputs.at(np.array([row]), np.array(self._features[split]))[0]
                middle = (_F(self._thresholds[split]) + value) / _F(2)
                self._thresholds[split] = float(middle)
                del self._half_made[split]

    def _append(self, feature: int, test: int, threshold: float) -> None:
        self._features.append(feature)
        self._tests.append(test)
        self._thresholds.append(threshold)
        self._compared.append(threshold)
        self._left = np.concatenate(
            [self._left, np.zeros((1, self._left.shape[1]), np.float32)]
        )

    def _remove(self, split: int) -> None:
        for parts in (self._features, self._tests, self._thresholds, self._compared):
            del parts[split]
        self._left = np.delete(self._left, split, axis=0)

    def _sides(self, inputs: Inputs, rows: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether each example goes left at each candidate, [examples, splits]."""
        values = inputs.at(rows[:, None], np.array(self._features, np.int64)[None])
        tests = np.array(self._tests, np.int8)[None]
        return goes_left(values, tests, np.array(self._compared, np.float32)[None])

    @abstractmethod
    def add(self, inputs: Inputs, targets: Targets, rows: NDArray[Any]) -> int | None:
        """Counts examples; the place in `rows` at which the leaf had seen enough."""

    @abstractmethod
    def best(self) -> Split | None:
        """The best candidate; None if none divides what was seen."""

    @abstractmethod
    def read(self, slot: FertileSlot) -> None:
        """Takes over what a message says."""

    @abstractmethod
    def write(self, slot: FertileSlot) -> None:
        """Writes all that was seen into an empty message."""

    def _split(self, index: int, left: Any, right: Any) -> Split:
        return Split(
            self._features[index],
            self._tests[index],
            self._thresholds[index],
            left,
            right,
        )


class ClassificationSlot(Slot):
    """Counts of classes."""

    def __init__(self, parameters: Parameters, depth: int) -> None:
        super().__init__(parameters, depth, parameters.outputs)
        self._checks = checks_of(parameters, depth)

    def add(self, inputs: Inputs, targets: Targets, rows: NDArray[Any]) -> int | None:
        """Counts examples; the place in `rows` at which the leaf had seen enough."""
        if self._checks is None:
            return self._count(inputs, targets, rows)
        first = None
        ends_early = False
        for place in range(len(rows)):  # a check may follow any example
            found = self._count(inputs, targets, rows[place : place + 1])
            left, right = self._left, self._total - self._left
            scores = self._scores(left)[1] + self._scores(right)[1]
            if self._checks.ends(self.weight, scores):
                ends_early = True
            if found is not None or ends_early:
                first = place if first is None else first
                continue
            for candidate in reversed(self._checks.removed(self.weight, scores)):
                self._remove(candidate)
        return first

    def _count(
        self, inputs: Inputs, targets: Targets, rows: NDArray[Any]
    ) -> int | None:
        labels, weights = (
            targets.labels[rows, 0].astype(np.int64),
            targets.weights[rows],
        )
        counts = np.zeros((len(rows), self._total.size), np.float32)
        counts[np.arange(len(rows)), labels] = weights
        if self._features:
            sides = self._sides(inputs, rows)
            self._left = self._left + sides.T.astype(np.float32) @ counts
        totals = np.cumsum(np.concatenate([self._total[None], counts]), axis=0)
        reached = np.cumsum(np.concatenate([[self.weight], weights]), dtype=np.float32)
        self._total, self.weight = totals[-1], reached[-1]
        classes = np.count_nonzero(totals[1:], axis=1)
        done = (reached[1:] >= self._split_after) & (classes > 1)
        return int(np.argmax(done)) if done.any() else None

    def best(self) -> Split | None:
        """The candidate of the least Gini impurity; None if none divides."""
        left, right = self._left, self._total - self._left
        left_sums, left_scores = self._scores(left)
        right_sums, right_scores = self._scores(right)
        scores = left_scores + right_scores
        scores[~((left_sums > 0) & (right_sums > 0))] = np.inf
        if not scores.size or np.isinf(scores.min()):
            return None
        index = int(np.argmin(scores))
        return self._split(index, left[index], right[index])

    def _scores(self, counts: NDArray[Any]) -> tuple[Any, Any]:
        """(sums, impurities weighted by them), each a vector of the candidates."""
        sums = counts.sum(axis=1, dtype=np.float32)
        squares = (counts * counts).sum(axis=1, dtype=np.float32)
        number = _F(self._total.size)
        smoothed = number + sums
        impure = 1 - (squares + _F(2) * sums + number) / (smoothed * smoothed)
        return sums, sums * impure.astype(np.float32)

    def read(self, slot: FertileSlot) -> None:
        """Takes over what a message says."""
        if not slot.HasField("post_init_leaf_stats"):
            return
        stats, count = slot.post_init_leaf_stats, self._total.size
        self.weight = _F(stats.weight_sum)
        self._total = self._counts(stats, count)
        for candidate in slot.candidates:
            self._append(*read_split(candidate.split))
            self._left[-1] = self._counts(candidate.left_stats, count)

    @staticmethod
    def _counts(stats: Any, count: int) -> Any:
        its = stats.classification
        return read_values(its, "dense_counts", "sparse_counts", count)

    def write(self, slot: FertileSlot) -> None:
        """Writes all that was seen into an empty message."""
        stats = slot.post_init_leaf_stats
        stats.weight_sum = float(self.weight)
        self._write_counts(stats, self._total)
        for index, left in enumerate(self._left):
            candidate = slot.candidates.add()
            feature, test = self._features[index], self._tests[index]
            write_split(candidate.split, feature, test, self._thresholds[index])
            self._write_counts(candidate.left_stats, left)

    def _write_counts(self, stats: Any, counts: Any) -> None:
        if self._parameters.is_sparse:
            stats.classification.sparse_counts.SetInParent()
            write_sparse(stats.classification.sparse_counts, counts)
        else:
            write_values(stats.classification.dense_counts, counts)


class RegressionSlot(Slot):
    """Sums of outputs, sums of their squares, and the number of examples."""

    def __init__(self, parameters: Parameters, depth: int) -> None:
        super().__init__(parameters, depth, 2 * parameters.outputs + 1)

    def add(self, inputs: Inputs, targets: Targets, rows: NDArray[Any]) -> int | None:
        """Counts examples; the place in `rows` at which the leaf had seen enough."""
        labels = targets.labels[rows]
        ones = np.ones((len(rows), 1), np.float32)
        sums = np.concatenate([labels, labels * labels, ones], axis=1)
        if self._features:
            sides = self._sides(inputs, rows)
            for side, row in zip(sides, sums, strict=True):  # in TensorFlow's order
                self._left[side] += row
        for row in sums:
            self._total += row
        before, self.weight = self.weight, self.weight + _F(len(rows))
        if self.weight < self._split_after:
            return None
        return max(0, int(self._split_after - before) - 1)

    def best(self) -> Split | None:
        """The candidate of the least variance; None if none divides."""
        outputs = self._parameters.outputs
        right = self._total - self._left
        left_counts, right_counts = self._left[:, -1], right[:, -1]
        divides = (left_counts > 0) & (right_counts > 0)
        if not divides.any():
            return None
        scores = np.zeros(len(divides), np.float32)
        with np.errstate(invalid="ignore", divide="ignore"):
            for output in range(outputs):
                for side, counts in ((self._left, left_counts), (right, right_counts)):
                    mean = side[:, output] / counts
                    scores += side[:, outputs + output] / counts - mean * mean
        scores[~divides] = np.inf
        index = int(np.argmin(scores))
        return self._split(
            index,
            self._left[index, :outputs] / left_counts[index],
            right[index, :outputs] / right_counts[index],
        )

    def read(self, slot: FertileSlot) -> None:
        """Takes over what a message says."""
        if not slot.HasField("post_init_leaf_stats"):
            return
        self.weight = _F(slot.post_init_leaf_stats.weight_sum)
        self._total = self._sums(slot.post_init_leaf_stats)
        for candidate in slot.candidates:
            self._append(*read_split(candidate.split))
            self._left[-1] = self._sums(candidate.left_stats)

    @staticmethod
    def _sums(stats: Any) -> Any:
        its = stats.regression
        numbers = [value.float_value for value in its.mean_output.value]
        squares = [value.float_value for value in its.mean_output_squares.value]
        return np.array([*numbers, *squares, stats.weight_sum], np.float32)

    def write(self, slot: FertileSlot) -> None:
        """Writes all that was seen into an empty message."""
        self._write_sums(slot.post_init_leaf_stats, self._total)
        for index, left in enumerate(self._left):
            candidate = slot.candidates.add()
            feature, test = self._features[index], self._tests[index]
            write_split(candidate.split, feature, test, self._thresholds[index])
            self._write_sums(candidate.left_stats, left)

    def _write_sums(self, stats: Any, sums: Any) -> None:
        outputs = self._parameters.outputs
        stats.weight_sum = float(sums[-1])
        write_values(stats.regression.mean_output, sums[:outputs])
        write_values(stats.regression.mean_output_squares, sums[outputs:-1])
