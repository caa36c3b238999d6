"""Sessions of a chief, and of the next one: the first one's steps are refused."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

import tensorloom as tf
from tests.cluster.clusters import cluster_over, over_the_network

Servers = dict[str, list[Any]]


@pytest.fixture(scope="module", params=["sockets", "grpc"])
def servers(request: Any) -> Iterator[Servers]:
    """A parameter server and two workers."""
    with cluster_over(request.param, ps=1, worker=2) as running:
        yield running


class Model:
    """A variable and a queue at the parameter server."""

    def __init__(self) -> None:
        self.graph = tf.Graph()
        with self.graph.as_default(), tf.device("/job:ps/task:0"):
            self.variable = tf.Variable(0.0, name="v")
            self.add = tf.assign_add(self.variable, 1.0).op
            queue = tf.FIFOQueue(1, [tf.float32], shared_name="nothing ever comes")
            with tf.control_dependencies([queue.dequeue()]):
                self.late = tf.assign_add(self.variable, 100.0).op

    def session(self, target: str, fence: dict[str, Any] | None) -> Any:
        """A session of a process that holds a lock, or of one that holds none."""
        config = tf.ConfigProto()
        for name, value in (fence or {}).items():
            setattr(config.experimental.fence, name, value)
        return tf.Session(target, graph=self.graph, config=config)


def fence(token: int, owner: str, scope: str) -> dict[str, Any]:
    """What a holder's session says."""
    return {
        **{"token": token, "owner": owner, "scope": scope},
        "holder": f"process {owner}",
    }


@pytest.mark.parametrize("network", [False, True], ids=["in process", "over the wire"])
def test_steps_of_a_chief_that_slept_are_refused(
    servers: Servers, network: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if network:
        over_the_network(monkeypatch)
    scope = f"writer of a directory, {network}"
    first, second = (str(server.target) for server in servers["worker"])
    model = Model()
    with (
        model.session(first, fence(5, "A", scope)) as old,
        model.session(first, fence(7, "A", scope)) as same,
        model.session(first, fence(1, "C", f"another {scope}")) as other,
        model.session(first, None) as worker,
    ):
        old.run(model.variable.initializer)
        same.run(model.add)
        failed: list[BaseException] = []

        def wait() -> None:
            try:
                old.run(model.late)
            except tf.errors.OpError as error:
                failed.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        old.run(model.add)  # the same process may have got its lock again
        with model.session(second, fence(8, "B", scope)) as new:
            new.run(model.variable.initializer)
            thread.join()  # what waits ends, whether it had begun there or not
            said = r"process A \(token 5\).*process B \(token 8\)"
            for op in (model.add, model.variable.initializer, model.variable):
                with pytest.raises(tf.errors.AbortedError, match=said):
                    old.run(op)
            with pytest.raises(tf.errors.AbortedError, match="token 7"):
                same.run(model.add)
            for session in (new, other, worker):
                session.run(model.add)
            assert new.run(model.variable) == 3.0
        # What has ended is not forgotten.
        with pytest.raises(tf.errors.AbortedError, match=said):
            model.session(first, fence(5, "A", scope)).run(model.add)
        assert worker.run(model.variable) == 3.0
    assert isinstance(failed[0], tf.errors.AbortedError)
