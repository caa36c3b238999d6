"""What k-means needs: nearest centers, and the choice of the first ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    OpKernelContext,
    host_kernel,
)
from tensorloom.kernels.host.data.pipeline.sources import RandomWords
from tensorloom.kernels.host.random.philox import uint32_to_float

_Array = NDArray[Any]
# Where a sum's last bits leave nothing to be drawn, the search ends here.
_MOST_DRAWS: Final = 100_000


def _squared_distances(points: _Array, centers: _Array) -> _Array:
    """[points, centers]: the squared Euclidean distances."""
    half = np.float32(0.5) * (centers * centers).sum(axis=1, dtype=np.float32)
    partial = half - points @ centers.T
    own = (points * points).sum(axis=1, dtype=np.float32)
    result: _Array = np.float32(2) * partial + own[:, None]
    return result


@host_kernel("NearestNeighbors", large=True)
def nearest_neighbors(c: OpKernelConstruction) -> Compute:
    """Indices and squared distances of the k nearest centers, nearest first."""

    def compute(points: _Array, centers: _Array, k: Any) -> tuple[_Array, _Array]:
        if np.ndim(points) != 2 or np.ndim(centers) != 2:
            raise invalid_argument("Input points and centers should be matrices.")
        if points.shape[1] != centers.shape[1]:
            raise invalid_argument(
                f"Expected input points and centers to have the same dimension, got "
                f"{points.shape[1]} and {centers.shape[1]}."
            )
        count = int(k)
        if count < 1:
            raise invalid_argument("k should be positive.")
        count = min(count, len(centers))
        distances = _squared_distances(points, centers)
        order = np.argsort(distances, axis=1, kind="stable")[:, :count]
        nearest = np.take_along_axis(distances, order, axis=1)
        return order.astype(np.int64), np.maximum(nearest, 0).astype(np.float32)

    return compute


def _words(seed: int) -> RandomWords:
    """The stream of a seed; 0 is a seed as any other."""
    return RandomWords(seed, 0 if seed else 1 << 64)


def _uniform(words: RandomWords) -> Any:
    return uint32_to_float(np.array([words.next()], np.uint32))[0]


@host_kernel("KMC2ChainInitialization", large=True)
def kmc2_chain_initialization(c: OpKernelConstruction) -> Compute:
    """The end of a Markov chain over the points.

    Bachem et al., "Approximate k-means++ in sublinear time", 2016.
    """

    def compute(distances: _Array, seed: Any) -> Any:
        if np.ndim(distances) != 1 or not len(distances):
            raise invalid_argument("Expected a vector of distances, not an empty one.")
        words = _words(int(seed))
        chosen = 0
        for index in range(1, len(distances)):
            accepts = distances[index] > _uniform(words) * distances[chosen]
            if accepts:
                chosen = index
        return np.int64(chosen)

    return compute


class _PlusPlus:
    """Points drawn one after the other, far ones more likely."""

    def __init__(self, points: _Array, words: RandomWords) -> None:
        self._points = points
        self._words = words
        squares = (points * points).sum(axis=1, dtype=np.float32)
        self._half_norms = squares * np.float32(0.5)
        # Half the squared distance of each point to the nearest chosen one.
        self._nearest = np.full(len(points), np.inf, np.float32)
        self._sums = self._nearest
        self.chosen: list[int] = []

    def choose(self, tries: int, check: Callable[[], None]) -> None:
        """Chooses, of so many drawn points, the one that brings all others closest.

        `check` raises when the step is cancelled.
        """
        best, best_index, best_nearest = math.inf, 0, self._nearest
        for _ in range(tries):
            check()
            index = self._draw() if self.chosen else self._draw_evenly()
            # TensorFlow reads one row too far where all sums are the same.
            index = min(index, len(self._points) - 1)
            nearest = self._nearest_with(index)
            total = float(nearest.sum(dtype=np.float32))
            if total < best:
                best, best_index, best_nearest = total, index, nearest
        self.chosen.append(best_index)
        self._nearest = best_nearest
        self._sums = np.add.accumulate(best_nearest)

    def _nearest_with(self, index: int) -> _Array:
        own = self._half_norms + self._half_norms[index]
        result: _Array = np.minimum(
            self._nearest, own - self._points @ self._points[index]
        )
        return result

    def _draw_evenly(self) -> int:
        count = len(self._points)
        unwanted = (2**64 - 1) % count + 1 if count & (count - 1) else 0
        while True:
            value = self._words.next() | self._words.next() << 32
            if value >= unwanted:
                return value % count

    def _draw(self) -> int:
        for _ in range(_MOST_DRAWS):
            point = _uniform(self._words) * self._sums[-1]
            index = int(np.searchsorted(self._sums, point, side="right"))
            if index not in self.chosen:
                break
        return index


def _check_choice(points: _Array, **scalars: Any) -> None:
    if np.ndim(points) != 2:
        raise invalid_argument("Input points should be a matrix.")
    for name, value in scalars.items():
        if np.ndim(value) != 0:
            raise invalid_argument(f"Input {name} should be a scalar.")
    count = int(scalars["num_to_sample"])
    if not len(points):
        raise invalid_argument("Expected points.rows() > 0.")
    if count <= 0:
        raise invalid_argument("Expected num_to_sample > 0.")
    if count > len(points):
        raise invalid_argument(
            f"Expected num_to_sample <= points.rows(). {count} vs {len(points)}."
        )


@host_kernel("KmeansPlusPlusInitialization", context=True, large=True)
def kmeans_plus_plus_initialization(c: OpKernelConstruction) -> Compute:
    """Rows of the points, far from each other, as TensorFlow draws them.

    Arthur and Vassilvitskii, "k-means++: the advantages of careful seeding", 2007.
    """

    def compute(
        context: OpKernelContext, points: _Array, count: Any, seed: Any, retries: Any
    ) -> _Array:
        _check_choice(
            points, num_to_sample=count, seed=seed, num_retries_per_sample=retries
        )
        more = int(retries) if retries >= 0 else 2 + int(math.log(count))
        drawn = _PlusPlus(points, _words(int(seed)))
        for _ in range(int(count)):
            drawn.choose(1 + more, context.cancellation.check)
        return points[drawn.chosen]

    return compute
