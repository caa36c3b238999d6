"""Candidate samplers in host memory, with TensorFlow's numbers when seeded."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.array.allocation import shape_text
from tensorloom.kernels.host.nn.candidate_draws import (
    AliasDraws,
    Draws,
    UniformDraws,
    WeightedDraws,
    log_uniform_sampler,
    sample,
)
from tensorloom.kernels.host.random.random_state import node_generator
from tensorloom.storage.files import filesystem

_Array = NDArray[Any]
# TensorFlow reserves so many words for each class that it samples.
_WORDS_PER_SAMPLE: Final = 2048
_FLT_MAX: Final = np.finfo(np.float32).max


Probability = Callable[[_Array], _Array]


def _sampler(
    c: OpKernelConstruction, draws: Draws, probability: Probability
) -> Compute:
    """Draws a sample; counts it and the true classes by `probability`."""
    num_true, count, unique = c["num_true"], c["num_sampled"], c["unique"]
    generator = node_generator(c)
    reserved = -(-_WORDS_PER_SAMPLE * count // 4)

    def compute(true_classes: _Array) -> tuple[_Array, _Array, _Array]:
        check_true_classes(true_classes, num_true)
        sampled, tries = sample(draws, generator.reserve(reserved), count, unique)
        true = np.asarray(true_classes)
        both = np.concatenate([sampled, true.reshape(-1)])
        counts = expected(probability(both), count, tries)
        return sampled, counts[count:].reshape(true.shape), counts[:count]

    return compute


def expected(probability: _Array, count: int, tries: int) -> _Array:
    """How often a class is in a sample, given its probability in one draw."""
    from tensorloom.kernels.loops.nn import samplers

    counts = np.empty(len(probability), np.float32)
    samplers.expected_counts(probability, count, tries, counts)
    return counts


def check_true_classes(true_classes: _Array, num_true: int) -> None:
    """Refuses what is not [batch, num_true]."""
    shape = true_classes.shape
    if len(shape) != 2:
        raise errors.InvalidArgumentError(None, None, "true_classes must be a matrix")
    if shape[1] != num_true:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"true_classes must have num_true columns, expected: {shape[1]} was: "
            f"{num_true}",
        )


def _check_range(c: OpKernelConstruction, limit: int) -> None:
    if c["unique"] and c["num_sampled"] > limit:
        raise errors.InvalidArgumentError(None, None, "Sampler's range is too small.")


@host_kernel("UniformCandidateSampler", large=True)
def uniform(c: OpKernelConstruction) -> Compute:
    """Equally likely classes."""
    bound = c["range_max"]
    _check_range(c, bound)
    return _sampler(
        c,
        UniformDraws(bound),
        lambda classes: np.full(classes.shape, 1.0 / bound, np.float32),
    )


@host_kernel("LogUniformCandidateSampler", large=True)
def log_uniform(c: OpKernelConstruction) -> Compute:
    """Classes whose logarithm is uniform."""
    num_true, count, unique = c["num_true"], c["num_sampled"], c["unique"]
    bound = c["range_max"]
    _check_range(c, bound)
    generator = node_generator(c)
    reserved = -(-_WORDS_PER_SAMPLE * count // 4)

    draw = log_uniform_sampler(bound, count, unique)

    def compute(true_classes: _Array) -> tuple[_Array, _Array, _Array]:
        check_true_classes(true_classes, num_true)
        sampled, _, true_counts, counts = draw(
            generator.reserve(reserved), true_classes
        )
        return sampled, true_counts, counts

    return compute


@host_kernel("FixedUnigramCandidateSampler", large=True)
def fixed_unigram(c: OpKernelConstruction) -> Compute:
    """Classes by given frequencies, through Walker's alias table."""
    weights = _weights(c)
    _check_range(c, c["range_max"])
    total = float(weights.sum())
    share, other = alias_table(weights)

    def probability(classes: _Array) -> _Array:
        inside = (classes >= 0) & (classes < len(weights))
        known = weights[np.where(inside, classes, 0)]
        return np.where(inside, known, 0) / np.float32(total)

    return _sampler(c, AliasDraws(share, other), probability)


def _weights(c: OpKernelConstruction) -> NDArray[np.float32]:
    listed, path = c["unigrams"], c["vocab_file"]
    if bool(listed) == bool(path):
        raise errors.InvalidArgumentError(
            None, None, "Must provide exactly one of vocab_file and unigrams."
        )
    if path:
        lines = filesystem.read_file(path).decode().splitlines()
        listed = [float(line.rsplit(",", 1)[-1]) for line in lines if line.strip()]
    shard, shards = c["shard"], c["num_shards"]
    if shard >= shards:
        raise errors.InvalidArgumentError(
            None, None, "Shard must be less than num_shards."
        )
    given = np.array(listed, np.float32) ** np.float32(c["distortion"])
    reserved = np.zeros(max(c["num_reserved_ids"], 0), np.float32)
    whole = np.concatenate([reserved, given])
    # Classes count within the shard.
    own = whole[shard::shards]
    if len(own) != c["range_max"]:
        raise errors.InvalidArgumentError(
            None, None, f"range_max is {c['range_max']}, there are {len(own)} weights"
        )
    return own


def alias_table(weights: NDArray[np.float32]) -> tuple[list[float], list[int]]:
    """Walker's table for these weights: what each class keeps, and who has the rest."""
    count = len(weights)
    with np.errstate(all="ignore"):  # without a weight every class is as likely
        shares = (weights.astype(np.float64) * count / weights.sum()).tolist()
    table, other = [1.0] * count, list(range(count))
    low = [i for i, share in enumerate(shares) if share < 1.0]
    high = [i for i, share in enumerate(shares) if share >= 1.0]
    while high and low:
        small, large = low.pop(), high.pop()
        table[small], other[small] = shares[small], large
        shares[large] -= 1.0 - shares[small]
        (low if shares[large] < 1.0 else high).append(large)
    return table, other


@host_kernel(
    ["LearnedUnigramCandidateSampler", "ThreadUnsafeUnigramCandidateSampler"],
    large=True,
)
def learned_unigram(c: OpKernelConstruction) -> Compute:
    """Classes by how often they have been true ones, each once at the start."""
    _check_range(c, c["range_max"])
    draws = WeightedDraws(c["range_max"])
    lock = threading.Lock()

    def probability(classes: _Array) -> _Array:
        weights = draws.weights
        inside = (classes >= 0) & (classes < len(weights))
        known = weights[np.where(inside, classes, 0)]
        return np.where(inside, known, 0).astype(np.float32) / np.float32(draws.total)

    sample = _sampler(c, draws, probability)

    def compute(true_classes: _Array) -> tuple[_Array, _Array, _Array]:
        with lock:
            result: tuple[_Array, _Array, _Array] = sample(true_classes)
            draws.add(np.asarray(true_classes))
        return result

    return compute


@host_kernel("AllCandidateSampler", large=True)
def all_candidates(c: OpKernelConstruction) -> Compute:
    """Every class once."""
    num_true, count = c["num_true"], c["num_sampled"]

    def compute(true_classes: _Array) -> tuple[_Array, _Array, _Array]:
        check_true_classes(true_classes, num_true)
        ones = np.ones(np.shape(true_classes), np.float32)
        return np.arange(count), ones, np.ones(count, np.float32)

    return compute


@host_kernel("ComputeAccidentalHits", large=True)
def compute_accidental_hits(c: OpKernelConstruction) -> Compute:
    """Sampled classes that are true ones."""
    num_true = c["num_true"]

    def compute(true_classes: _Array, sampled: _Array) -> tuple[Any, Any, Any]:
        shape = np.shape(true_classes)
        if len(shape) != 2 or shape[1] != num_true:
            raise errors.InvalidArgumentError(
                None,
                None,
                "true_classes must be a batch_size * num_true matrix, got "
                f"{shape_text(shape)}",
            )
        if np.ndim(sampled) != 1:
            raise errors.InvalidArgumentError(
                None, None, "sampled_candidates must be a vector"
            )
        place = {candidate: i for i, candidate in enumerate(sampled.tolist())}
        hits = [
            (row, place[label])
            for row, labels in enumerate(true_classes.tolist())
            for label in labels
            if label in place
        ]
        rows = np.array([row for row, _ in hits], np.int32)
        ids = np.array([i for _, i in hits], np.int64)
        return rows, ids, np.full(len(hits), -_FLT_MAX, np.float32)

    return compute
