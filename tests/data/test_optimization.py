"""Transformations about how a dataset runs leave its elements as they are."""

from __future__ import annotations

import threading
import time
import warnings
from typing import Any

import numpy as np
import pytest
import torch

import tensorloom as tf
from tensorloom.data import optimization
from tensorloom.framework.runtime import intra_op

D = tf.data.Dataset


@pytest.mark.parametrize(
    "transformation",
    [
        optimization.assert_next(["Map"]),
        optimization.model(),
        optimization.non_serializable(),
        optimization.optimize(["map_fusion", "map_parallelization"]),
        optimization.optimize(),
    ],
)
def test_elements_stay(transformation: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        dataset = tf.data.Dataset.range(3).apply(transformation).map(lambda x: x + 1)
        element = tf.data.make_one_shot_iterator(dataset).get_next()
        assert [sess.run(element) for _ in range(3)] == [1, 2, 3]


def _run(dataset: Any, **options: Any) -> list[Any]:
    """All elements of a dataset without other options than these.

    Args:
      options: of `experimental_optimization`, or of `experimental_threading`.
    """
    made = tf.data.Options()
    made.experimental_optimization.apply_default_optimizations = False
    made.experimental_optimization.autotune = False
    for name, value in options.items():
        part = made.experimental_optimization
        if name in ("private_threadpool_size", "max_intra_op_parallelism"):
            part = made.experimental_threading
        setattr(part, name, value)
    iterator = tf.data.make_initializable_iterator(dataset.with_options(made))
    element, found = iterator.get_next(), []
    with tf.Session() as session:
        session.run(iterator.initializer)
        while True:
            try:
                found.append(session.run(element))
            except tf.errors.OutOfRangeError:
                return found


def _expecting(*names: str) -> Any:
    return D.range(4).apply(optimization.assert_next(names))


def _plus(x: Any) -> Any:
    return x + 1


NEXT: dict[str, tuple[Any, dict[str, bool]]] = {
    "ParallelMap": (lambda d: d.map(_plus, 2), {}),
    "Map BatchV2": (lambda d: d.map(_plus).batch(2), {}),
    "MapAndBatch": (lambda d: d.map(_plus).batch(2), {"map_and_batch_fusion": True}),
    "Map NonSerializable BatchV2": (
        lambda d: d.map(_plus).apply(optimization.non_serializable()).batch(2),
        {"map_and_batch_fusion": True},
    ),
    "ParallelMap Map": (
        lambda d: d.map(_plus).map(lambda x: tf.random.uniform([]) + 1.0),
        {"map_parallelization": True},
    ),
    "Shuffle FiniteRepeat": (lambda d: d.shuffle(2).repeat(2), {}),
    "ShuffleAndRepeat": (
        lambda d: d.shuffle(2).repeat(2),
        {"shuffle_and_repeat_fusion": True},
    ),
    "FiniteSkip FiniteTake FiniteRepeat Prefetch": (
        lambda d: d.skip(0).take(-1).repeat(1).prefetch(0),
        {},
    ),
    "FiniteTake Model": (
        lambda d: d.skip(0).take(3).repeat(1).prefetch(0),
        {"noop_elimination": True, "autotune": True},
    ),
    "MemoryCacheImpl Zip[0]": (lambda d: D.zip((d.cache(), D.range(2))), {}),
    "Zip[1] FlatMap": (
        lambda d: D.zip((D.range(2), d)).flat_map(lambda x, y: D.range(x)),
        {},
    ),
    "Filter PaddedBatchV2": (
        lambda d: d.filter(lambda x: x > 1).padded_batch(2, []),
        {},
    ),
    "MaxIntraOpParallelism PrivateThreadPool": (
        lambda d: d,
        {"max_intra_op_parallelism": 1, "private_threadpool_size": 1},
    ),
}


@pytest.mark.parametrize("names", NEXT)
def test_assert_next(names: str) -> None:
    """All names as they are; all but the last, and another one in its place."""
    build, options = NEXT[names]
    *first, last = names.split()
    assert _run(build(_expecting(*first, last)), **options)
    _run(build(_expecting(*first)), **options)
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match=rf"Asserted Other transformation at offset {len(first)} but encountered "
        + last.replace("[", r"\["),
    ):
        _run(build(_expecting(*first, "Other")), **options)
    count = len(first) + 2
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match=f"next {count} transformations but encountered only {count - 1}",
    ):
        _run(build(_expecting(*first, last, "Other")), **options)


def test_unknown_optimizations_are_refused() -> None:
    with pytest.raises(tf.errors.InternalError, match="doesn't exist: other"):
        _run(D.range(3).apply(optimization.optimize(["map_fusion", "other"])))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("private_threadpool_size", 0, "`num_threads` must be >= 1"),
        (
            "max_intra_op_parallelism",
            -1,
            "`max_intra_op_parallelism` must be >= 0",
        ),
    ],
)
def test_numbers_of_threads_are_checked(name: str, value: int, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        _run(D.range(3), **{name: value})


@pytest.mark.parametrize("options", [{}, {"private_threadpool_size": 1}])
def test_a_thread_pool_of_one_calls_functions_one_by_one(options: Any) -> None:
    callers: set[int] = set()

    def slow(x: Any) -> Any:
        begin = time.perf_counter()
        while time.perf_counter() - begin < 0.001:
            callers.add(threading.get_ident())
        return x

    dataset = D.range(16).map(lambda x: tf.py_func(slow, [x], tf.int64), 4)
    assert _run(dataset, **options) == list(range(16))
    assert (len(callers) == 1) == bool(options)


@pytest.mark.parametrize(
    ("options", "expected"), [({}, 4), ({"max_intra_op_parallelism": 3}, 3)]
)
def test_threads_of_an_operation_in_a_function(
    options: dict[str, int], expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intra_op, "_count", lambda: 4)
    before = torch.get_num_threads()

    def counted(x: Any) -> Any:
        return np.array([intra_op.count(), torch.get_num_threads()])

    dataset = D.range(1).map(lambda x: tf.py_func(counted, [x], tf.int64))
    torch.set_num_threads(4)
    try:
        assert _run(dataset, **options)[0].tolist() == [expected] * 2
    finally:
        torch.set_num_threads(before)
    assert intra_op.count() == 4


@pytest.mark.parametrize("use_resource", [False, True])
def test_captured_reference_variables_are_not_optimized(use_resource: bool) -> None:
    v = tf.get_variable("v", initializer=2, use_resource=use_resource)
    dataset = D.range(4).map(lambda x: x * tf.cast(v, tf.int64)).batch(2)
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    options.experimental_optimization.map_and_batch_fusion = True
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        iterator = dataset.with_options(options).make_initializable_iterator()
    told = [w for w in caught if "not compatible with tf.Variable" in str(w.message)]
    assert len(told) == (not use_resource)
    assert all("disabled: map_and_batch_fusion." in str(w.message) for w in told)
    ops = {op.type for op in tf.get_default_graph().get_operations()}
    assert ("OptimizeDataset" in ops) == use_resource
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(iterator.initializer)
        assert session.run(iterator.get_next()).tolist() == [0, 2]
