"""A context in a cluster: ops and values on the devices of other tasks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.client.functions.function import Defun
from tensorloom.eager import Context, PlacementPolicy
from tensorloom.eager.remote_handle import RemoteTensor
from tensorloom.framework import errors
from tests.cluster.clusters import free_ports

TASK_1 = "/job:worker/replica:0/task:1/device:CPU:0"
TASK_2 = "/job:worker/replica:0/task:2/device:CPU:0"


@Defun(tf.float32, func_name="Twice")
def twice(x: Any) -> Any:
    return x + x


@pytest.fixture(scope="module")
def cluster() -> Iterator[tf.train.ClusterSpec]:
    """Three tasks; the first is left to a context."""
    addresses = [f"localhost:{port}" for port in free_ports(3)]
    spec = tf.train.ClusterSpec({"worker": addresses})
    servers = [tf.train.Server(spec, "worker", index) for index in (1, 2)]
    yield spec
    for server in servers:
        server.stop()


def server_def(cluster: tf.train.ClusterSpec, job: str = "worker") -> Any:
    """Of the first task."""
    return tf.train.ServerDef(
        cluster=cluster.as_cluster_def(), job_name=job, task_index=0, protocol="grpc"
    )


@pytest.fixture
def joined(cluster: tf.train.ClusterSpec, context: Context) -> Context:
    """A context that is the first task."""
    context.join(server_def(cluster))
    return context


def test_devices_are_those_of_the_cluster(joined: Context) -> None:
    """Those here come first, under the name of the task."""
    names = [device.name for device in joined.devices if device.device_type == "CPU"]
    assert names == [TASK_1.replace("task:1", "task:0"), TASK_1, TASK_2]


@pytest.mark.parametrize(
    ("op", "values", "attrs", "expected"),
    [
        ("Mul", [[1.0, 2.0], [3.0, 4.0]], {}, [[3.0, 8.0]]),
        ("Neg", [np.int64(7)], {}, [np.int64(-7)]),
        ("StringJoin", [[b"a", [b"b", b"c"]]], {"separator": "-"}, [[b"a-b", b"a-c"]]),
        ("StringToHashBucketFast", [b"a"], {"num_buckets": 1}, [0]),
        ("Unique", [[5, 5, 6]], {}, [[5, 6], [0, 0, 1]]),
        ("Const", [], {"value": np.float32([1, 2]), "dtype": tf.float32}, [[1.0, 2.0]]),
        ("NoOp", [], {}, []),
    ],
)
def test_ops_run_there(
    joined: Context, op: str, values: list[Any], attrs: dict[str, Any], expected: Any
) -> None:
    """Results stay there, of values here and of what is there, in the right sizes."""

    def handles(device: str) -> list[Any]:
        def handle(value: Any) -> Any:
            return joined.handle(value, device=device)

        if op == "StringJoin":
            return [[handle(value) for value in values[0]]]
        return [handle(value) for value in values]

    for device in ("", TASK_1, TASK_2):
        results = joined.execute(op, handles(device), attrs, TASK_1)
        assert [handle.device_name for handle in results] == [TASK_1] * len(expected)
        for handle, value in zip(results, expected, strict=True):
            assert handle.dims == np.shape(value)
            assert np.array_equal(handle.numpy(), np.array(value, handle.numpy().dtype))


def test_ops_here_take_what_is_there(joined: Context) -> None:
    """It is brought here."""
    (there,) = joined.execute("Neg", [joined.handle(2.0)], {}, TASK_1)
    (here,) = joined.execute("Add", [there, there])
    assert here.device_name.endswith("/task:0/device:CPU:0")
    assert here.numpy() == -4.0


def test_resources_are_found_by_their_name(joined: Context) -> None:
    """An op on one runs where it is; two handles of a name are one variable."""
    attrs = {"dtype": tf.float32, "shape": [], "shared_name": "total"}
    handles = [joined.execute("VarHandleOp", [], attrs, TASK_2)[0] for _ in range(2)]
    joined.execute("AssignVariableOp", [handles[0], joined.handle(1.5)])
    joined.execute("AssignAddVariableOp", [handles[1], joined.handle(1.0)])
    (value,) = joined.execute("ReadVariableOp", [handles[0]], {"dtype": tf.float32})
    assert (value.device_name, value.numpy()) == (TASK_2, 2.5)
    with pytest.raises(errors.InvalidArgumentError):
        handles[0].numpy()


def test_a_function_runs_there(joined: Context) -> None:
    """With what it is made of."""
    graph = tf.Graph()
    twice.add_to_graph(graph)
    joined.add_function(graph.as_graph_def().library.function[0])
    (result,) = joined.execute("Twice", [joined.handle(4.0)], {}, TASK_1)
    assert (result.device_name, result.numpy()) == (TASK_1, 8.0)


def test_tensors_are_dropped_with_their_handles(joined: Context) -> None:
    """The task that had one is told before the next step."""
    (there,) = joined.execute("Neg", [joined.handle(2.0)], {}, TASK_1)
    tensor, shared = there.value, there.shared()
    same = RemoteTensor(tensor.cluster, tensor.device, tensor.key, ())
    del there, tensor
    joined.execute("NoOp", [], {}, TASK_1)
    assert shared.numpy() == same.cluster.fetched(same, tf.float32) == -2.0
    del shared
    joined.execute("NoOp", [], {}, TASK_1)
    with pytest.raises(errors.InvalidArgumentError, match="not in the session store"):
        same.cluster.fetched(same, tf.float32)


@pytest.mark.parametrize(
    ("op", "values", "error", "message"),
    [
        ("MatMul", [[[1.0]], [[1.0, 2.0]] * 2], "InvalidArgumentError", "Op:MatMul"),
        ("VarHandleOp", [], "UnimplementedError", "no name to be found by"),
        ("OptionalNone", [], "UnimplementedError", "variants do not leave"),
    ],
)
def test_what_fails(
    joined: Context, op: str, values: list[Any], error: str, message: str
) -> None:
    """Errors of another task's kernel, and what it cannot keep."""
    anonymous = "cd2c89b7-88b7-44c8-ad83-06c2a9158347"
    attrs: dict[str, Any] = {}
    if op == "VarHandleOp":
        attrs = {"dtype": tf.float32, "shape": [], "shared_name": anonymous}
    with pytest.raises(getattr(errors, error), match=message) as caught:
        joined.execute(op, [joined.handle(value) for value in values], attrs, TASK_1)
    assert "{{node" not in caught.value.message


def test_copies_are_refused_where_they_are_not_silent(
    cluster: tf.train.ClusterSpec,
) -> None:
    """An op there of what is here needs a copy; one here of a new value does not."""
    with Context(policy=PlacementPolicy.EXPLICIT) as context:
        before = context.handle(1.0)
        context.join(server_def(cluster))
        (here,) = context.execute("Neg", [before])
        with pytest.raises(errors.InvalidArgumentError, match="conflicting devices"):
            context.execute("Neg", [here], {}, TASK_1)
        there = here.copy_to_device(context.device_named(TASK_1))
        (result,) = context.execute("Neg", [there], {}, TASK_1)
        assert result.numpy() == 1.0


def test_joining_again_and_closing(
    cluster: tf.train.ClusterSpec, context: Context
) -> None:
    """What another task kept is gone; the context goes on."""
    with pytest.raises(errors.OpError, match='Job "ps" was not defined'):
        context.join(server_def(cluster, "ps"))
    context.join(server_def(cluster))
    (there,) = context.execute("Neg", [context.handle(2.0)], {}, TASK_1)
    context.join(server_def(cluster))
    with pytest.raises(errors.CancelledError, match="has left the cluster"):
        there.numpy()
    (again,) = context.execute("Neg", [context.handle(3.0)], {}, TASK_1)
    assert again.numpy() == -3.0
    context.close()
    with pytest.raises(errors.FailedPreconditionError):
        context.join(server_def(cluster))
