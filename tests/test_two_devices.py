"""Programs spread over two logical CPUs give what they give on one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

CPU0 = "/job:localhost/replica:0/task:0/device:CPU:0"
CPU1 = "/job:localhost/replica:0/task:0/device:CPU:1"

Build = Callable[[str, str], Any]


def two_cpus(**options: Any) -> tf.ConfigProto:
    return tf.ConfigProto(device_count={"CPU": 2}, **options)


def arithmetic(here: str, there: str) -> Any:
    x = tf.constant(np.arange(12, dtype=np.float32).reshape(3, 4))
    with tf.device(there):
        y = tf.matmul(x, x, transpose_b=True)
    with tf.device(here):
        z = tf.exp(-y / 100.0)
    with tf.device(there):
        return tf.reduce_sum(y * z, axis=0), tf.shape(z), z[1:, 0]


def gradients(here: str, there: str) -> Any:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.device(there):
        y = tf.tanh(tf.matmul(x, x) / 20.0)
    with tf.device(here):
        loss = tf.reduce_mean(tf.square(y - 1.0))
    return tf.gradients(loss, [x, y])


def large_tensors(here: str, there: str) -> Any:
    x = tf.constant(np.linspace(-1, 1, 120 * 100, dtype=np.float32).reshape(120, 100))
    with tf.device(there):
        y = tf.nn.relu(x) @ tf.transpose(x)
    with tf.device(here):
        a, b = tf.split(y, 2, axis=1)
    with tf.device(there):
        return tf.concat([b, a], axis=1), tf.argmax(y, axis=1)


def strings_and_bools(here: str, there: str) -> Any:
    with tf.device(there):
        s = tf.constant(["a", "b"])
        flag = tf.constant([True, False])
    with tf.device(here):
        same = tf.equal(s, "a")
    with tf.device(there):
        return tf.logical_and(same, flag), tf.identity(s)


def conds(here: str, there: str) -> Any:
    results = []
    for value in (1.0, -1.0):
        x = tf.constant(value)
        with tf.device(there):
            y = tf.cond(x > 0, lambda x=x: tf.exp(x) * 2.0, lambda x=x: tf.square(x))
        with tf.device(here):
            results += [y + 1.0, tf.gradients(y, x)[0]]
    return results


def loops(here: str, there: str) -> Any:
    with tf.device(there):
        i, total = tf.while_loop(
            lambda i, t: i < 10,
            lambda i, t: (i + 1, t + tf.cast(i, tf.float32) * 0.5),
            [tf.constant(0), tf.constant(1.0)],
        )
    with tf.device(here):
        x = tf.constant(1.1)
        power = tf.while_loop(
            lambda i, p: i < 5, lambda i, p: (i + 1, p * x), [0, tf.constant(1.0)]
        )[1]
    with tf.device(there):
        return i, total, power + total, tf.gradients(power, x)[0]


def loop_with_devices_inside(here: str, there: str) -> Any:
    def body(i: Any, v: Any) -> Any:
        with tf.device(there):
            w = v * 2.0
        with tf.device(here):
            return i + 1, w + 1.0

    return tf.while_loop(lambda i, v: i < 4, body, [0, tf.constant([1.0, 2.0])])


def queues(here: str, there: str) -> Any:
    with tf.device(there):
        queue = tf.FIFOQueue(10, [tf.float32, tf.int32], [[2], []])
    with tf.device(here):
        puts = [queue.enqueue([[float(i), 2.0 * i], i]) for i in range(3)]
    with tf.control_dependencies(puts), tf.device(here):
        value, count = queue.dequeue()
        with tf.control_dependencies([value]):
            size = queue.size()
    # In which order the values go in is not said.
    return tf.identity(size), value[1] - value[0] * 2.0, count * 0


STATELESS: list[Build] = [
    arithmetic,
    gradients,
    large_tensors,
    strings_and_bools,
    conds,
    loops,
    loop_with_devices_inside,
    queues,
]


def run_once(build: Build, here: str, there: str, config: Any) -> Any:
    with tf.Graph().as_default(), tf.Session(config=config) as sess:
        return sess.run(build(here, there))


def assert_same(first: Any, second: Any) -> None:
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("build", STATELESS, ids=lambda build: build.__name__)
def test_the_same_on_one_device_and_on_two(build: Build) -> None:
    expected = run_once(build, "/cpu:0", "/cpu:0", None)
    for here, there in (("/cpu:0", "/cpu:1"), ("/cpu:1", "/cpu:0"), ("/cpu:1",) * 2):
        assert_same(run_once(build, here, there, two_cpus()), expected)


# --- variables and optimizers ---------------------------------------------------------

OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "sgd": lambda: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "adam": lambda: tf.train.AdamOptimizer(0.05),
}


def train(optimizer: str, resource: bool, here: str, there: str, config: Any) -> Any:
    rng = np.random.RandomState(0)
    data = rng.rand(16, 3).astype(np.float32)
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 3])
        with tf.variable_scope("net", use_resource=resource):
            with tf.device(here):
                w = tf.get_variable(
                    "w", [3, 4], initializer=tf.constant_initializer(0.3)
                )
                hidden = tf.tanh(tf.matmul(x, w))
            with tf.device(there):
                b = tf.get_variable("b", [4], initializer=tf.zeros_initializer())
                v = tf.get_variable(
                    "v", [4, 1], initializer=tf.constant_initializer(0.1)
                )
                out = tf.matmul(hidden + b, v)
        loss = tf.reduce_mean(tf.square(out - tf.reduce_sum(x, 1, keepdims=True)))
        step = OPTIMIZERS[optimizer]().minimize(loss)
        with tf.Session(config=config) as sess:
            sess.run(tf.global_variables_initializer())
            losses = [sess.run([loss, step], {x: data})[0] for _ in range(6)]
            return losses, *sess.run(tf.global_variables())


@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
@pytest.mark.parametrize("optimizer", sorted(OPTIMIZERS))
def test_training_is_the_same(optimizer: str, resource: bool) -> None:
    expected = train(optimizer, resource, "/cpu:0", "/cpu:0", None)
    actual = train(optimizer, resource, "/cpu:0", "/cpu:1", two_cpus())
    for a, b in zip(actual, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_two_reads_elsewhere_of_a_reference_variable() -> None:
    with tf.device("/cpu:1"):
        v = tf.Variable([1.0, 2.0], use_resource=False)
    with tf.device("/cpu:0"):
        before = v.read_value() + 0.0
    with tf.device("/cpu:1"), tf.control_dependencies([before]):
        add = v.assign_add([1.0, 1.0]).op
    with tf.device("/cpu:0"), tf.control_dependencies([add]):
        after = v.read_value() + 0.0
    with tf.Session(config=two_cpus()) as sess:
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized"):
            sess.run(after)
        sess.run(v.initializer)
        for i in range(20):
            values = [value.tolist() for value in sess.run([before, after])]
            assert values == [[1.0 + i, 2.0 + i], [2.0 + i, 3.0 + i]]


@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
def test_a_control_dependency_orders_an_update_elsewhere(resource: bool) -> None:
    with tf.device("/cpu:1"):
        v = tf.get_variable("v", initializer=1.0, use_resource=resource)
        add = v.assign_add(1.0)
    with tf.device("/cpu:0"), tf.control_dependencies([add]):
        after = tf.constant(10.0) + v.read_value()
    with tf.Session(config=two_cpus()) as sess:
        sess.run(v.initializer)
        assert [sess.run(after) for _ in range(50)] == [12.0 + i for i in range(50)]


def test_a_variable_s_ops_are_colocated_with_it() -> None:
    with tf.device("/cpu:1"):
        v = tf.Variable([1.0, 2.0], name="v")
    update = v.assign_add([1.0, 1.0])
    nodes, _ = partitions(update.op, init=v.initializer)
    assert nodes["v"].device == nodes["AssignAdd"].device == CPU1


# --- what the partition looks like ----------------------------------------------------


def partitions(
    fetch: Any, feeds: Any = None, init: Any = None, config: Any = None
) -> tuple[dict[str, Any], list[Any]]:
    metadata = tf.RunMetadata()
    with tf.Session(config=config or two_cpus()) as sess:
        if init is not None:
            sess.run(init)
        sess.run(
            fetch,
            feeds,
            options=tf.RunOptions(output_partition_graphs=True),
            run_metadata=metadata,
        )
    graphs = list(metadata.partition_graphs)
    return {node.name: node for graph in graphs for node in graph.node}, graphs


def test_send_and_recv_come_in_pairs() -> None:
    x = tf.placeholder(tf.float32, [2, 2], name="x")
    with tf.device("/cpu:1"):
        y = tf.matmul(x, x, name="y")
    z = tf.add(y, 1.0, name="z")
    _, graphs = partitions(z, {x: np.eye(2)})
    assert len(graphs) == 2
    for graph in graphs:
        assert len({node.device for node in graph.node}) == 1
        known = {node.name for node in graph.node}
        for node in graph.node:
            for name in node.input:
                assert name.lstrip("^").partition(":")[0] in known
    sends = {s.attr["tensor_name"].s: s for s in nodes_of(graphs, "_Send")}
    recvs = {r.attr["tensor_name"].s: r for r in nodes_of(graphs, "_Recv")}
    assert len(sends) == 2
    assert sends.keys() == recvs.keys()
    for name, send in sends.items():
        recv = recvs[name]
        for attr in ("send_device", "send_device_incarnation", "recv_device"):
            assert send.attr[attr] == recv.attr[attr]
        assert send.attr["T"].type == recv.attr["tensor_type"].type
        assert send.device == send.attr["send_device"].s.decode()
        assert recv.device == recv.attr["recv_device"].s.decode()


def nodes_of(graphs: list[Any], op: str) -> list[Any]:
    return [node for graph in graphs for node in graph.node if node.op == op]


def test_a_tensor_is_sent_once_to_each_device() -> None:
    x = tf.placeholder(tf.float32, [3], name="x")
    parts = []
    for index in (1, 2):
        with tf.device(f"/cpu:{index}"):
            parts += [tf.exp(x), tf.sin(x), tf.cos(x) + x]
    with tf.device("/cpu:0"):
        total = tf.add_n(parts)
    config = tf.ConfigProto(device_count={"CPU": 3})
    _, graphs = partitions(total, {x: [1.0, 2.0, 3.0]}, config=config)
    sent = Counter(
        (send.input[0], send.attr["recv_device"].s)
        for send in nodes_of(graphs, "_Send")
    )
    assert set(sent.values()) == {1}
    assert len([name for name, _ in sent if name == "_arg_x_0_0"]) == 2


def test_what_stays_on_one_device_is_not_sent() -> None:
    with tf.device("/cpu:1"):
        x = tf.random_uniform([2])
        target = tf.group(tf.exp(x + tf.sin(x)))
    nodes, graphs = partitions(target)
    assert {node.device for node in nodes.values()} == {CPU1}
    assert nodes_of(graphs, "_Send") == nodes_of(graphs, "_Recv") == []


# --- placement ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("", CPU0),
        ("/cpu:0", CPU0),
        ("/cpu:1", CPU1),
        ("/device:CPU:1", CPU1),
        ("/CPU:1", CPU1),
        ("/job:localhost/cpu:1", CPU1),
        ("/task:0", CPU0),
        ("/job:localhost/replica:0/task:0", CPU0),
        (CPU1, CPU1),
        ("/device:CPU:*", CPU0),
    ],
)
def test_partial_device_names(asked: str, given: str) -> None:
    x = tf.placeholder(tf.float32, [2])
    with tf.device(asked):
        y = tf.exp(x, name="y")
    nodes, _ = partitions(y, {x: [1.0, 2.0]})
    assert nodes["y"].device == given


def test_nested_devices_merge() -> None:
    x = tf.placeholder(tf.float32, [2])
    with tf.device("/job:localhost"), tf.device("/cpu:1"):
        y = tf.exp(x, name="y")
    with tf.device("/cpu:1"), tf.device(None):
        z = tf.sin(x, name="z")
    with tf.device(lambda op: "/cpu:1" if op.type == "Cos" else ""):
        c = tf.cos(x, name="c")
    nodes, _ = partitions([y, z, c], {x: [1.0, 2.0]})
    assert [nodes[name].device for name in "yzc"] == [CPU1, CPU0, CPU1]


@pytest.mark.parametrize("asked", ["/cpu:7", "/gpu:0", "/device:TPU:3"])
def test_soft_placement_takes_another_device(asked: str) -> None:
    x = tf.placeholder(tf.float32, [2])
    with tf.device(asked):
        y = tf.exp(x, name="y")
    with tf.Session(config=two_cpus(allow_soft_placement=True)) as sess:
        if "GPU" not in {d.device_type for d in sess.list_devices()}:
            np.testing.assert_allclose(
                sess.run(y, {x: [0.0, 1.0]}), np.exp([0.0, 1.0]), rtol=1e-6
            )


@pytest.mark.parametrize("asked", ["/cpu:7", "/device:TPU:0", "/job:worker/cpu:0"])
def test_an_unknown_device_is_an_error_that_names_the_choices(asked: str) -> None:
    x = tf.placeholder(tf.float32, [2])
    with tf.device(asked):
        y = tf.exp(x, name="y")
    with tf.Session(config=two_cpus()) as sess:
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            sess.run(y, {x: [0.0, 1.0]})
        message = caught.value.message
        assert "Cannot assign a device for operation y" in message
        assert "test_two_devices.py" in message
        assert CPU0 in message
        assert CPU1 in message


def test_colocation_that_contradicts_itself() -> None:
    with tf.device("/cpu:0"):
        a = tf.Variable(1.0, name="a")
    with tf.device("/cpu:1"):
        b = tf.Variable(2.0, name="b")
    with tf.colocate_with(a.op), tf.device("/cpu:1"):
        c = tf.constant(1.0, name="c")
    with tf.colocate_with(a.op), tf.colocate_with(b.op):
        d = tf.identity(c, name="d")
    with (
        tf.Session(config=two_cpus()) as sess,
        pytest.raises(tf.errors.InvalidArgumentError, match="d"),
    ):
        sess.run(d)


def test_placement_is_logged_on_request(capfd: pytest.CaptureFixture[str]) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.device("/cpu:1"):
        y = tf.exp(x, name="y")
    with tf.Session(config=two_cpus(log_device_placement=True)) as sess:
        sess.run(y, {x: [0.0, 1.0]})
        sess.run(y, {x: [0.0, 1.0]})
    logged = capfd.readouterr().err
    assert len(re.findall(rf"^y: \(Exp\): {CPU1}$", logged, re.MULTILINE)) == 1


# --- failures -------------------------------------------------------------------------


def failing_step() -> tuple[Any, Any]:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    with tf.device("/cpu:1"):
        y = tf.matmul(x, x, name="square")
    with tf.device("/cpu:0"):
        z = tf.exp(y) + 1.0
    return x, z


def test_a_failing_piece_ends_the_step_and_says_where() -> None:
    x, z = failing_step()
    with tf.Session(config=two_cpus()) as sess:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError) as caught:
                sess.run(z, {x: np.ones([3, 2])})
            error = caught.value
            assert error.op.name == "square"
            assert error.node_def.op == "MatMul"
            for text in ("square", "test_two_devices.py", "[3,2]", "CPU:1"):
                assert text in error.message
            np.testing.assert_allclose(
                sess.run(z, {x: np.eye(2)}), np.exp(np.eye(2)) + 1, rtol=1e-6
            )


def test_a_failure_cancels_a_piece_that_waits() -> None:
    with tf.device("/cpu:1"):
        queue = tf.FIFOQueue(1, tf.float32, [[]])
        taken = queue.dequeue(name="take")
    with tf.device("/cpu:0"):
        x = tf.placeholder(tf.float32, [])
        checked = tf.Assert(x > 0, [x], name="positive")
    with tf.Session(config=two_cpus()) as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
            sess.run([taken, checked], {x: -1.0})
        sess.run(queue.enqueue(5.0))
        assert sess.run([taken, checked], {x: 1.0})[0] == 5.0


def test_many_threads_share_a_step_over_two_devices() -> None:
    import threading

    x = tf.placeholder(tf.float32, [2])
    with tf.device("/cpu:1"):
        y = x * 2.0
    z = y + 1.0
    failures: list[Any] = []

    def work(sess: Any, number: int) -> None:
        for i in range(50):
            got = sess.run(z, {x: [number, i]}).tolist()
            if got != [2.0 * number + 1, 2.0 * i + 1]:
                failures.append(got)

    with tf.Session(config=two_cpus()) as sess:
        threads = [threading.Thread(target=work, args=(sess, n)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []


def test_a_trace_covers_both_devices() -> None:
    x = tf.placeholder(tf.float32, [2])
    with tf.device("/cpu:1"):
        y = tf.exp(x, name="y")
    metadata = tf.RunMetadata()
    with tf.Session(config=two_cpus()) as sess:
        sess.run(
            y + 1.0,
            {x: [0.0, 1.0]},
            options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE),
            run_metadata=metadata,
        )
    devices = {stats.device for stats in metadata.step_stats.dev_stats}
    assert {CPU0, CPU1} <= devices
