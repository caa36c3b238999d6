"""Horovod's operations in graphs: here with a group that answers at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom import hvd
from tensorloom.framework.collective import process_group
from tensorloom.framework.collective.process_group import Pending, Request


class _Doubles:
    """Rank 1 of two processes that bring the same."""

    rank, size, local_rank, local_size = 1, 2, 1, 2

    def __init__(self) -> None:
        self.submitted: list[Request] = []

    def submit(self, request: Request) -> Pending:
        self.submitted.append(request)
        pending = Pending()
        value = request.value
        if request.kind == "allreduce":
            value = value * value.dtype.type(2)
        elif request.kind == "allgather":
            value = np.concatenate([value, value])
        pending.resolve(value)
        return pending

    def close(self) -> None:
        pass


@pytest.fixture
def group() -> Iterator[_Doubles]:
    made = _Doubles()
    process_group.set_current(made)
    with tf.Graph().as_default():
        yield made
    process_group.set_current(None)


@pytest.mark.parametrize(
    "ask", [hvd.rank, hvd.size, hvd.local_rank, hvd.local_size, hvd.is_homogeneous]
)
def test_nothing_before_init(ask: Any) -> None:
    assert not hvd.is_initialized()
    with pytest.raises(ValueError, match=r"use hvd.init\(\)"):
        ask()


def test_a_step_before_init() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        total = hvd.allreduce(tf.constant(1.0))
        with pytest.raises(tf.errors.FailedPreconditionError, match=r"use hvd.init"):
            sess.run(total)


def test_alone() -> None:
    hvd.init()
    hvd.init()
    try:
        assert (hvd.rank(), hvd.size(), hvd.local_rank(), hvd.local_size()) == (
            *(0, 1),
            *(0, 1),
        )
        with tf.Graph().as_default(), tf.Session() as sess:
            assert sess.run(hvd.allreduce([1.0, 2.0])).tolist() == [1.0, 2.0]
            assert hvd.broadcast_object([1, "a"], 0) == [1, "a"]
    finally:
        hvd.shutdown()
    assert not hvd.is_initialized()
    with pytest.raises(ValueError, match="communicator"):
        hvd.init([0, 1])


def test_values(group: _Doubles) -> None:
    x = tf.constant([1.0, 3.0])
    whole = tf.constant([2, 4])
    slices = tf.IndexedSlices(tf.constant([[4.0]]), tf.constant([2]), [5, 1])
    sparse = hvd.allreduce(slices)
    fetches = {
        "mean": hvd.allreduce(x),
        "sum": hvd.allreduce(x, op=hvd.Sum),
        "older": hvd.allreduce(x, average=False),
        "adasum": hvd.allreduce(x, op=hvd.Adasum),
        "half": hvd.allreduce(x, compression=hvd.Compression.fp16),
        "brief": hvd.allreduce(x, compression=hvd.Compression.bf16),
        "int": hvd.allreduce(whole, compression=hvd.Compression.fp16, op=hvd.Sum),
        "gather": hvd.allgather(x),
        "broadcast": hvd.broadcast(x, 1, name="b"),
        "sparse": [sparse.values, sparse.indices],
        "place": [hvd.rank_op(), hvd.size_op(), hvd.local_rank_op()],
    }
    with tf.Session() as sess:
        found = sess.run(fetches)
    expected = {
        **{"mean": [1, 3], "sum": [2, 6], "older": [2, 6], "adasum": [2, 6]},
        **{
            "half": [1, 3],
            "brief": [1, 3],
            "int": [4, 8],
            "gather": [1, 3, 1, 3],
            "broadcast": [1, 3],
        },
    }
    for name, value in expected.items():
        assert found[name].tolist() == value, name
        assert found[name].dtype == fetches[name].dtype.as_numpy_dtype
    assert found["sparse"][0].tolist() == [[2.0], [2.0]]
    assert found["sparse"][1].tolist() == [2, 2]
    assert found["place"] == [1, 2, 1]
    kinds = {request.name: request for request in group.submitted}
    assert kinds["b"].root == 1
    assert kinds["HorovodAllreduce_Const_0"].value.dtype == np.float32
    assert np.float16 in [request.value.dtype for request in group.submitted]


@pytest.mark.parametrize("feedback", [True, False])
def test_the_largest_values_travel(group: _Doubles, feedback: bool) -> None:
    gradient = tf.placeholder(tf.float32, [3, 4])
    topk = hvd.Compression.topk(1 / 6, feedback)
    reduced = hvd.allreduce(gradient, compression=topk)
    kept = tf.local_variables()
    assert len(kept) == feedback
    assert not tf.global_variables()
    given = np.random.RandomState(0).standard_normal([9, 3, 4]).astype(np.float32)
    given[3] *= 20
    total, expected = np.zeros([3, 4], np.float32), np.zeros(12, np.float32)
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        for value in given:
            found = sess.run(reduced, {gradient: value})
            here = value.reshape(-1) + expected * feedback
            largest = np.argsort(-np.abs(here))[:2]
            sent = np.zeros_like(here)
            sent[largest] = here[largest]
            expected = here - sent
            np.testing.assert_allclose(found.reshape(-1), sent, rtol=1e-6)
            total += found
        if feedback:  # nothing is lost
            total += sess.run(kept[0]).reshape(3, 4)
            np.testing.assert_allclose(total, given.sum(0), rtol=1e-4)
    assert {r.kind for r in group.submitted} == {"allgather"}
    assert max(request.value.size for request in group.submitted) == 2


def test_what_is_infinite_is_not_kept(group: _Doubles) -> None:
    gradient = tf.placeholder(tf.float32, [8])
    reduced = hvd.allreduce(gradient, compression=hvd.Compression.topk(0.2))
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        first = sess.run(reduced, {gradient: [1, np.inf, np.nan, 2, 0, 0, 0, 0]})
        assert not np.isfinite(first[1:3]).any()
        second = sess.run(reduced, {gradient: np.zeros(8)})
    assert second.tolist() == [1, 0, 0, 2, 0, 0, 0, 0]


def test_what_travels_whole(group: _Doubles) -> None:
    topk = hvd.Compression.topk(0.4)
    fetches = [
        hvd.allreduce(tf.constant([1.0, 2.0]), compression=topk),
        hvd.allreduce(tf.constant([1, 2, 3, 4]), compression=topk, op=hvd.Sum),
        hvd.allreduce(tf.constant(3.0), compression=topk),
    ]
    with tf.Session() as sess:
        found = sess.run(fetches)
    assert [value.tolist() for value in found] == [[1, 2], [2, 4, 6, 8], 3]
    assert {request.kind for request in group.submitted} == {"allreduce"}


@pytest.mark.parametrize("ratio", [0.0, -1.0, 1.5])
def test_what_cannot_be_a_part(ratio: float) -> None:
    with pytest.raises(ValueError, match="ratio must be above 0"):
        hvd.Compression.topk(ratio)


def test_what_has_no_largest_values(group: _Doubles) -> None:
    topk = hvd.Compression.topk(0.1)
    with pytest.raises(ValueError, match="shapes must be known"):
        hvd.allreduce(tf.placeholder(tf.float32, [None]), compression=topk)
    with pytest.raises(ValueError, match="reduces whole tensors"):
        hvd.allreduce(tf.zeros([50]), compression=topk, op=hvd.Adasum)


def test_gradients(group: _Doubles) -> None:
    x = tf.constant([[1.0], [2.0]])
    gradients = [
        tf.gradients(hvd.allreduce(x, op=hvd.Sum) * [[3.0], [4.0]], x),
        tf.gradients(hvd.allgather(x) * [[1.0], [2.0], [3.0], [4.0]], x),
        tf.gradients(hvd.broadcast(x, 0), x),
        tf.gradients(hvd.broadcast(x, 1), x),
    ]
    with tf.Session() as sess:
        reduced, gathered, other, root = sess.run(gradients)
    assert reduced[0].tolist() == [[6.0], [8.0]]
    assert gathered[0].tolist() == [[6.0], [8.0]]  # rank 1's rows
    assert other[0].tolist() == [[0.0], [0.0]]
    assert root[0].tolist() == [[2.0], [2.0]]


def _trained(make: Any, steps: int = 3) -> list[Any]:
    with tf.Graph().as_default(), tf.Session() as sess:
        w = tf.get_variable("w", initializer=[1.0, 2.0])
        table = tf.get_variable("t", initializer=[[1.0], [2.0], [3.0]])
        loss = tf.reduce_sum(w**2) + tf.reduce_sum(tf.gather(table, [2, 0]) ** 2)
        step = tf.train.get_or_create_global_step()
        optimizer = make(tf.train.MomentumOptimizer(0.1, 0.5))
        train = optimizer.minimize(loss, step)
        sess.run(tf.global_variables_initializer())
        for _ in range(steps):
            sess.run(train)
        slot = optimizer.get_slot(w, "momentum")
        assert optimizer.get_slot_names() == ["momentum"]
        values: list[Any] = sess.run([w, table, step, slot])
        return values


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sparse_as_dense": True},
        {"compression": hvd.Compression.fp16},
        {"op": hvd.Average, "name": "Mine"},
    ],
)
def test_the_mean_of_equal_gradients_is_the_gradient(
    group: _Doubles, options: dict[str, Any]
) -> None:
    expected = _trained(lambda optimizer: optimizer)
    found = _trained(lambda optimizer: hvd.DistributedOptimizer(optimizer, **options))
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=2e-3 if options else 1e-6)


def test_gradients_begin_to_travel_before_the_last_is_computed(
    group: _Doubles,
) -> None:
    w = [tf.get_variable(f"w{i}", [3, 3]) for i in range(3)]
    y = tf.placeholder(tf.float32, [None, 3])
    out = y
    for each in w:
        out = tf.matmul(out, each)
    train = hvd.DistributedOptimizer(tf.train.GradientDescentOptimizer(0.1)).minimize(
        tf.reduce_sum(out)
    )
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        explained = sess.explain(train, {y: np.ones([2, 3])})
    ops = [node.op for node in explained.graphs["overlap_allreduces"].nodes.values()]
    first, last = (
        ops.index("_AllreduceStart"),
        len(ops) - 1 - ops[::-1].index("MatMul"),
    )
    assert first < last
    assert ops.count("_AllreduceStart") == ops.count("_AllreduceWait") == 3
    assert "HorovodAllreduce" not in ops
    last_start = len(ops) - 1 - ops[::-1].index("_AllreduceStart")
    assert last_start < ops.index("_AllreduceWait")


def test_an_allreduce_in_a_loop(group: _Doubles) -> None:
    x = tf.while_loop(
        lambda i, x: i < 3,
        lambda i, x: (i + 1, hvd.allreduce(x, op=hvd.Sum)),
        [0, tf.constant(1.0)],
    )[1]
    with tf.Session() as sess:
        assert sess.run(x) == 8.0


def test_a_reference_is_read_when_the_allreduce_runs(group: _Doubles) -> None:
    v = tf.Variable(1.0, use_resource=False)
    late = v.assign_add(1.0)
    with tf.control_dependencies([late]):
        total = hvd.allreduce(v._ref(), op=hvd.Sum)
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(total) == 4.0


BAD: list[tuple[str, Any]] = [
    ("op and average", lambda: hvd.allreduce(1.0, average=True, op=hvd.Sum)),
    ("hvd.Average", lambda: hvd.allreduce(1.0, op=7)),
    ("tf.train.Optimizer", lambda: hvd.DistributedOptimizer(object())),
    (
        "backward_passes_per_step",
        lambda: hvd.DistributedOptimizer(
            tf.train.AdamOptimizer(), backward_passes_per_step=2
        ),
    ),
    (
        "sparse_as_dense=True",
        lambda: hvd.allreduce(
            tf.IndexedSlices(tf.ones([1, 1]), tf.constant([0])), op=hvd.Adasum
        ),
    ),
]


@pytest.mark.parametrize(("text", "call"), BAD)
def test_bad_arguments(group: _Doubles, text: str, call: Any) -> None:
    with pytest.raises(ValueError, match=text):
        call()


def test_variables_begin_alike(group: _Doubles) -> None:
    v = tf.get_variable("v", initializer=3.0)
    hook = hvd.BroadcastGlobalVariablesHook(0)
    with tf.train.SingularMonitoredSession(hooks=[hook]) as sess:
        assert sess.run(v) == 3.0
    assert [(r.kind, r.root) for r in group.submitted] == [("broadcast", 0)]


class _Late(_Doubles):
    """Looks at values when their sums are waited for, as an engine's thread may."""

    def submit(self, request: Request) -> Pending:
        class Looked(Pending):
            def result(self, cancellation: Any) -> Any:
                return request.value * request.value.dtype.type(2)

        return Looked()


@pytest.mark.parametrize("kind", ["computed", "variable", "reference", "fed"])
def test_a_value_under_way_is_not_written_over(kind: str) -> None:
    process_group.set_current(_Late())
    try:
        with tf.Graph().as_default(), tf.Session() as sess:
            fed = tf.placeholder(tf.float32, [1000])
            x = {"fed": lambda: fed, "computed": lambda: tf.exp(fed)}.get(
                kind, lambda: tf.Variable(np.ones(1000), use_resource=kind[0] == "v")
            )()
            value = x if kind in ("fed", "computed") else tf.identity(x)
            # Made first, so that it runs between the beginning and the end.
            after = tf.nn.relu(value + 1.0) * 3.0
            if kind in ("variable", "reference"):
                with tf.control_dependencies([value]):
                    after = x.assign_add(np.ones(1000))
            with tf.control_dependencies([value]):
                total = hvd.allreduce(value, op=hvd.Sum)
            sess.run(tf.global_variables_initializer())
            given = np.zeros(1000) if kind == "computed" else np.ones(1000)
            for _ in range(3):
                if kind in ("variable", "reference"):
                    sess.run(tf.global_variables_initializer())
                found, _ = sess.run([total, after], {fed: given})
                assert set(found.tolist()) == {2.0}
    finally:
        process_group.set_current(None)
