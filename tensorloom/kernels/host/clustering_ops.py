"""What k-means needs: nearest centers, and the choice of the first ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework import errors
from tensorloom.framework.op_kernel import Compute, OpKernelConstruction, host_kernel
from tensorloom.kernels.host.datasets.sources import RandomWords
from tensorloom.kernels.host.philox import uint32_to_float

_Array = NDArray[Any]


def _invalid(message: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(None, None, message)


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
            raise _invalid("Input points and centers should be matrices.")
        if points.shape[1] != centers.shape[1]:
            raise _invalid(
                f"Expected input points and centers to have the same dimension, got "
                f"{points.shape[1]} and {centers.shape[1]}."
            )
        count = int(k)
        if count < 1:
            raise _invalid("k should be positive.")
        count = min(count, len(centers))
        distances = _squared_distances(points, centers)
        order = np.argsort(distances, axis=1, kind="stable")[:, :count]
        nearest = np.take_along_axis(distances, order, axis=1)
        return order.astype(np.int64), np.maximum(nearest, 0).astype(np.float32)

    return compute


def _uniform(words: RandomWords) -> Any:
    return uint32_to_float(np.array([words.next()], np.uint32))[0]


@host_kernel("KMC2ChainInitialization", large=True)
def kmc2_chain_initialization(c: OpKernelConstruction) -> Compute:
    """The end of a Markov chain over the points.

    Bachem et al., "Approximate k-means++ in sublinear time", 2016.
    """

    def compute(distances: _Array, seed: Any) -> Any:
        if np.ndim(distances) != 1 or not len(distances):
            raise _invalid("Expected a vector of distances, not an empty one.")
        words = RandomWords(int(seed), 0) if int(seed) else RandomWords(0, 1 << 64)
        chosen = 0
        for index in range(1, len(distances)):
            accepts = distances[index] > _uniform(words) * distances[chosen]
            if accepts or distances[chosen] == 0:
                chosen = index
        return np.int64(chosen)

    return compute
