"""The placer by cost: what it decides, when it measures, and what it leaves alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.extend import Plan, placer, remove_stage
from tensorloom.framework.interfaces import NodeStats
from tensorloom.master.place import cost_model
from tensorloom.master.run.measured_step import MEASURED_RUNS

COSTS = {"MatMul": 1e-3, "Exp": 1e-5}  # seconds, as this machine would not give them


@pytest.fixture
def observed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The traced steps, each node of which took what `COSTS` says."""
    found: list[int] = []
    plain = cost_model.CostModel.observe

    def observe(self: cost_model.CostModel, stats: Iterable[NodeStats]) -> None:
        stats = list(stats)
        found.append(len(stats))
        plain(
            self,
            [
                NodeStats(s.device, s.node_name, s.op, 0, int(cost * 1e9), 0, s.outputs)
                for s in stats
                for cost in [COSTS.get(s.op, 1e-6)]
            ],
        )

    monkeypatch.setattr(cost_model.CostModel, "observe", observe)
    return found


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    yield
    remove_stage("own")


def session(name: str = "cost", **options: Any) -> Any:
    config = tf.ConfigProto(device_count={"CPU": 2}, **options)
    if name:
        config.graph_options.rewrite_options.custom_optimizers.add(name=name)
    return tf.Session(config=config)


def towers(count: int, depth: int = 3) -> Any:
    ends = []
    for tower in range(count):
        with tf.name_scope(f"tower{tower}"):
            v = tf.Variable(np.full([4, 4], 0.1 * (tower + 1), np.float32), name="v")
            x = tf.exp(v)
            for _ in range(depth):
                x = tf.matmul(x, x) * 0.1
            ends.append(tf.reduce_sum(x))
    return tf.add_n(ends, name="total")


def placed(sess: Any, fetch: Any) -> dict[str, str]:
    found = sess.explain(fetch, run=False).journal.placements
    return {name: one.device[-5:] for name, one in found.items()}


def test_independent_chains_are_shared_out(observed: list[int]) -> None:
    total = towers(2)
    initializer = tf.global_variables_initializer()
    with session("") as sess:
        sess.run(initializer)
        expected = sess.run(total)
    with session() as sess:
        sess.run(initializer)
        results = [sess.run(total) for _ in range(MEASURED_RUNS + 3)]
        assert len(observed) == MEASURED_RUNS  # from the second run on
        places = placed(sess, total)
        told = sess.explain(total)
    np.testing.assert_array_equal(results, [expected] * len(results))
    assert told.results == expected
    sides = [
        {places[f"tower{t}/MatMul{suffix}"] for suffix in ("", "_1", "_2")}
        for t in range(2)
    ]
    assert sorted(map(sorted, sides)) == [["CPU:0"], ["CPU:1"]]
    assert {d for n, d in places.items() if "/v" in n} == {"CPU:0"}  # as ever
    moved = next(n for n, d in places.items() if d == "CPU:1" and "MatMul" in n)
    reason = told.journal.placements[moved].reason
    assert reason.startswith("by cost: it takes 1000 us and ends ")
    assert told.diff("cost").changed


def test_one_chain_stays_where_it_is(observed: list[int]) -> None:
    total = towers(1)
    with session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(MEASURED_RUNS + 2):
            sess.run(total)
        assert set(placed(sess, total).values()) == {"CPU:0"}


def test_device_fields_and_state_are_kept(observed: list[int]) -> None:
    with tf.device("/cpu:0"):
        fixed = tf.matmul(tf.ones([2, 2]), tf.random_normal([2, 2]), name="fixed")
    x = tf.random_uniform([4, 4], seed=7)
    y = tf.matmul(x, x, name="y")
    v = tf.Variable(0.0)
    step = v.assign_add(1.0)
    with tf.control_dependencies([step]):
        after = v.read_value()
    fetches = [fixed, y, tf.matmul(y, y), after]
    drawn = []
    for name in ("", "cost"):
        with session(name) as sess:
            sess.run(v.initializer)
            runs = [sess.run(fetches) for _ in range(MEASURED_RUNS + 3)]
            drawn.append([run[1] for run in runs])
            assert [run[3] for run in runs] == list(range(1, len(runs) + 1))
            if name:
                places = placed(sess, fetches)
                assert places["fixed"] == "CPU:0"
    np.testing.assert_array_equal(drawn[0], drawn[1])  # its sequence goes on


@pytest.mark.parametrize("is_classic", [False, True])
def test_loops_and_branches(is_classic: bool, observed: list[int]) -> None:
    if is_classic:
        tf.disable_control_flow_v2()
    x = tf.placeholder(tf.float32, [2, 2])
    loops = [
        tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, tf.matmul(s, x)), [0, x])
        for _ in range(2)
    ]
    branch = tf.cond(x[0, 0] > 0, lambda: tf.matmul(x, x), lambda: x)
    total = loops[0][1] + loops[1][1] + branch
    with session() as sess:
        feeds = {x: np.ones([2, 2], np.float32)}
        results = [sess.run(total, feeds) for _ in range(MEASURED_RUNS + 2)]
    np.testing.assert_array_equal(results, np.full([len(results), 2, 2], 18.0))


def test_runs_before_those_that_are_measured(observed: list[int]) -> None:
    total = towers(1)
    options = tf.GraphOptions(build_cost_model_after=4)
    with session(graph_options=options) as sess:
        sess.run(tf.global_variables_initializer())
        for run in range(5):
            metadata = tf.RunMetadata()
            sess.run(total, run_metadata=metadata)
            assert not metadata.step_stats.dev_stats  # it was nobody's wish
            assert len(observed) == max(0, run - 3)


def test_a_placer_of_a_programs_own_gets_costs(observed: list[int]) -> None:
    seen = []

    @placer("own", costs=True)
    def place(graph: Any, devices: Any, costs: Any) -> Any:
        seen.append(costs.is_measured)
        matmul = graph.nodes.get("tower0/MatMul")
        if costs.is_measured and matmul is not None:
            assert costs.seconds(matmul) == 1e-3
            assert costs.size(matmul, 0) == 64
            assert [d[-5:] for d in costs.devices(matmul)] == ["CPU:0", "CPU:1"]
            return Plan({matmul.name: "/cpu:1"}, list(graph.nodes))
        return {}

    total = towers(1, depth=1)
    with session("own") as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(MEASURED_RUNS + 2):
            sess.run(total)
        assert placed(sess, total)["tower0/MatMul"] == "CPU:1"
    assert True in seen


def test_an_order_that_is_none() -> None:
    placer("own")(lambda graph, devices: Plan({}, list(graph.nodes)[::-1]))
    with (
        session("own") as sess,
        pytest.raises(
            tf.errors.InvalidArgumentError,
            match=r"'own' gives has '.*' before its input",
        ),
    ):
        sess.run(towers(1))


def test_the_placer_of_a_process(
    observed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    total = towers(2)
    monkeypatch.setenv("TENSORLOOM_PLACEMENT", "cost")
    with session("") as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(MEASURED_RUNS + 2):
            sess.run(total)
        assert set(placed(sess, total).values()) == {"CPU:0", "CPU:1"}
    monkeypatch.setenv("TENSORLOOM_PLACEMENT", "nobody")
    with (
        session("") as sess,
        pytest.raises(
            tf.errors.InvalidArgumentError, match="TENSORLOOM_PLACEMENT is 'nobody'"
        ),
    ):
        sess.run(total)
