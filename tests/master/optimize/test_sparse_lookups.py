"""Lookups of sparse ids: their few nodes compute what the many did, gradients too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.kernels.loops.sparse import lookup_ids
from tensorloom.train.optimizers.adagrad import AdagradOptimizer

_FUSED = {"_NotDefault", "_LookupIds", "_SegmentsOrZeros", "_SegmentsOrZerosGrad"}
_IDS = np.array(
    [[3, -1, 0], [-1, -1, -1], [2, 2, 2], [1, 3, -1], [-1, -1, 4], [-1, -1, -1]]
)


def _config(fused: bool) -> Any:
    options = tf.ConfigProto()
    if not fused:
        rewrites = options.graph_options.rewrite_options
        rewrites.remapping = 2  # OFF
    return options


def _step(
    combiner: str, width: int, dtype: Any, resource: bool, fused: bool, text: bool
) -> tuple[list[Any], set[str]]:
    """(outputs, the gradient as rows, the updated table; the ops of the step)."""
    feed = np.where(_IDS < 0, "", _IDS.astype(str)) if text else _IDS
    with tf.Graph().as_default():
        kind = tf.string if text else tf.int64
        ids: Any = tf.placeholder(kind, [None, 3])
        indices: Any = tf.where(tf.not_equal(ids, "" if text else -1))
        values = tf.gather_nd(ids, indices)
        if text:
            values = tf.strings.to_number(values, tf.int64)
        sparse = tf.SparseTensor(indices, values, tf.shape(ids, out_type=tf.int64))
        random = np.random.RandomState(0)
        start = random.randn(5, width).astype(dtype)
        table = tf.get_variable("t", initializer=start, use_resource=resource)
        found = tf.nn.safe_embedding_lookup_sparse(table, sparse, combiner=combiner)
        scale = random.randn(6, width).astype(dtype)
        loss = tf.reduce_sum(found * scale)
        gradient: Any = tf.gradients(loss, table)[0]
        train = AdagradOptimizer(0.5).minimize(loss)
        with tf.Session(config=_config(fused)) as session:
            session.run(tf.global_variables_initializer())
            metadata = tf.RunMetadata()
            options = tf.RunOptions(output_partition_graphs=True)
            fetches = [found, gradient.indices, gradient.values, train]
            results = session.run(fetches, {ids: feed}, options, metadata)
            ops = {n.op for g in metadata.partition_graphs for n in g.node}
            return [*results[:3], session.run(table)], ops


@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
@pytest.mark.parametrize(
    ("width", "dtype", "resource", "text"),
    [
        (1, np.float32, False, False),
        (1, np.float32, True, True),
        (7, np.float32, True, False),
        (7, np.float64, False, True),
    ],
)
def test_same_as_without_passes(
    combiner: str, width: int, dtype: Any, resource: bool, text: bool
) -> None:
    found, ops = _step(combiner, width, dtype, resource, True, text)
    expected, others = _step(combiner, width, dtype, resource, False, text)
    assert ops >= _FUSED
    assert not others & _FUSED
    for one, other in zip(found[:3], expected[:3], strict=True):
        np.testing.assert_array_equal(one, other)
    # The update itself is another one without passes.
    np.testing.assert_allclose(found[3], expected[3], rtol=1e-5)
    assert not found[0][[1, 5]].any()


@pytest.mark.parametrize(
    ("rows", "shape", "message"),
    [
        ([0, 7], [6, 3], r"indices\(0, 0\) is invalid: 7 >= 6"),
        ([0, 1], [0, 3], r"dense_shape\[0\] = 0 but indices.shape\[0\] = 1"),
    ],
)
def test_rows_outside(rows: list[int], shape: list[int], message: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        places = tf.placeholder(tf.int64, [2, 2])
        ids = tf.placeholder(tf.int64, [2])
        sparse = tf.SparseTensor(places, ids, tf.constant(shape, tf.int64))
        table = tf.zeros([5, 2]) + 1.0
        found = tf.nn.safe_embedding_lookup_sparse(table, sparse)
        feed = {places: [[r, 0] for r in rows], ids: [-1, 3]}
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(found, feed)


def test_ids_out_of_order_are_brought_together() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        places = tf.placeholder(tf.int64, [None, 2])
        ids = tf.placeholder(tf.int64, [None])
        sparse = tf.SparseTensor(places, ids, tf.constant([3, 4], tf.int64))
        table = tf.constant([[1.0, 0.0], [2.0, 1.0], [4.0, 1.0]])
        found = tf.nn.safe_embedding_lookup_sparse(table, sparse, combiner="sum")
        feed = {places: [[2, 0], [0, 0], [2, 1], [0, 1]], ids: [2, 1, 2, 0]}
        result = session.run(found, feed)
        np.testing.assert_array_equal(result, [[3, 1], [0, 0], [8, 2]])


def test_python_serves_lookups_until_there_is_machine_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lookup_ids, "ready_ids", lookup_ids.ready_ids.plain)
    found, ops = _step("mean", 4, np.float32, True, True, False)
    expected, _ = _step("mean", 4, np.float32, True, False, False)
    assert ops >= {"_LookupIds"}
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)
