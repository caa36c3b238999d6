"""Steps in which a task waits at a queue for what another task does of the same step.

What lets go an op that waits may come from anywhere: from the task that needs its
result, or through a third. No part may wait for something before it has done what does
not follow from that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tests.cluster.clusters import OTHER, PS, WORKER, cluster_over

Servers = dict[str, list[Any]]
# A step that waits for itself ends with it, as a failure.
LIMIT = tf.RunOptions(timeout_in_ms=60_000)


@pytest.fixture(scope="module", params=["sockets", "grpc"])
def servers(request: Any) -> Iterator[Servers]:
    with cluster_over(request.param, ps=1, worker=2) as running:
        yield running


def queue(device: str) -> Any:
    with tf.device(device):
        return tf.FIFOQueue(10, [tf.float32], shapes=[[]])


def number(device: str, value: float) -> Any:
    """A number that is computed in the step."""
    with tf.device(device):
        return tf.random_uniform([]) * 0.0 + value


def on(device: str, build: Callable[[], Any]) -> Any:
    with tf.device(device):
        return build()


def taken_before_put() -> tuple[list[Any], list[Any]]:
    """The worker uses what it lets the parameter server take."""
    waiting = queue(PS)
    taken = on(PS, waiting.dequeue)
    used = on(WORKER, lambda: taken + 1.0)
    put = on(PS, lambda: waiting.enqueue([number(WORKER, 3.0)]))
    return [used, put], [4.0, None]


def taken_here_used_there() -> tuple[list[Any], list[Any]]:
    waiting = queue(WORKER)
    taken = on(WORKER, waiting.dequeue)
    used = on(PS, lambda: taken + 1.0)
    put = on(WORKER, lambda: waiting.enqueue([number(PS, 3.0)]))
    back = on(WORKER, lambda: used * 2.0)
    return [put, back], [None, 8.0]


def from_one_queue_to_the_next() -> tuple[list[Any], list[Any]]:
    """Each element follows from the one before, over and over between tasks."""
    places = [PS, WORKER, PS, OTHER, PS]
    queues = [queue(place) for place in places]
    taken = [on(p, q.dequeue) for p, q in zip(places, queues, strict=True)]
    result = on(WORKER, lambda: taken[-1] * 2.0)
    puts = []
    for i in reversed(range(1, len(queues))):
        element = on(places[i - 2], lambda i=i: taken[i - 1] + 1.0)  # type: ignore[misc]
        puts.append(on(places[i], lambda i=i, e=element: queues[i].enqueue([e])))  # type: ignore[misc]
    puts.append(on(PS, lambda: queues[0].enqueue([number(WORKER, 0.0)])))
    return [result, *puts], [8.0, *[None] * 5]


def through_the_other_worker() -> tuple[list[Any], list[Any]]:
    """Two tasks have each what lets go the other's queue."""
    first, second = queue(PS), queue(PS)
    of_first, of_second = on(PS, first.dequeue), on(PS, second.dequeue)
    here = on(WORKER, lambda: of_second + 1.0)
    there = on(OTHER, lambda: of_first + 10.0)
    puts = [
        on(PS, lambda: second.enqueue([there])),
        on(PS, lambda: first.enqueue([number(WORKER, 1.0)])),
    ]
    return [here, there, *puts], [12.0, 11.0, None, None]


def tokens() -> tuple[list[Any], list[Any]]:
    """A step counter is set to a token that the worker's own work lets go."""
    waiting = queue(PS)
    count = on(WORKER, lambda: tf.Variable(0.0))
    work = on(WORKER, lambda: tf.Variable(1.0))
    with tf.control_dependencies([on(PS, waiting.dequeue)]):
        counted = on(WORKER, lambda: count.assign_add(1.0))
    with tf.control_dependencies([on(WORKER, lambda: work.assign_add(2.0))]):
        put = on(PS, lambda: waiting.enqueue([1.0]))
    return [counted, put, work], [1.0, None, 3.0]


def accumulated() -> tuple[list[Any], list[Any]]:
    """Gradients of two workers, and the mean goes back to one of them."""
    gradients = on(PS, lambda: tf.ConditionalAccumulator(tf.float32, shape=[]))
    mean = on(PS, lambda: gradients.take_grad(2))
    used = on(WORKER, lambda: mean + 1.0)
    given = [
        on(PS, lambda d=d, v=v: gradients.apply_grad(number(d, v), local_step=9))  # type: ignore[misc]
        for d, v in ((WORKER, 4.0), (OTHER, 6.0))
    ]
    return [used, *given], [6.0, None, None]


def staged() -> tuple[list[Any], list[Any]]:
    stage: dict[str, Any] = {"shared_name": "stage"}
    (got,) = on(PS, lambda: tf.raw_ops.Unstage(dtypes=[tf.float32], **stage))
    used = on(WORKER, lambda: got + 1.0)
    put = on(PS, lambda: tf.raw_ops.Stage(values=[number(WORKER, 1.0)], **stage))
    return [used, put], [2.0, None]


def behind_a_barrier() -> tuple[list[Any], list[Any]]:
    barrier = on(
        PS,
        lambda: tf.raw_ops.Barrier(component_types=[tf.float32], shapes=[[]]),
    )
    taken = on(
        PS,
        lambda: tf.raw_ops.BarrierTakeMany(
            handle=barrier, num_elements=1, component_types=[tf.float32]
        ),
    )
    used = on(WORKER, lambda: tf.reduce_sum(taken.values[0]))
    element = number(WORKER, 2.0)
    put = on(
        PS,
        lambda: tf.raw_ops.BarrierInsertMany(
            handle=barrier, keys=["a"], values=[element], component_index=0
        ),
    )
    return [used, put], [2.0, None]


def around_branches_and_loops() -> tuple[list[Any], list[Any]]:
    waiting = queue(PS)
    taken = on(PS, waiting.dequeue)
    chosen = on(
        WORKER, lambda: tf.cond(taken > 0.0, lambda: taken * 2.0, lambda: taken)
    )
    element = on(
        WORKER,
        lambda: tf.while_loop(
            lambda i: i < 4.0, lambda i: i + 1.0, [number(WORKER, 0.0)]
        ),
    )
    put = on(PS, lambda: waiting.enqueue([element]))
    return [chosen, put], [8.0, None]


def in_a_branch() -> tuple[list[Any], list[Any]]:
    """The branch that uses what was taken is the one that lets it go."""
    waiting = queue(PS)
    taken = on(PS, waiting.dequeue)

    def use() -> Any:
        with tf.control_dependencies([waiting.enqueue([number(WORKER, 4.0)])]):
            return on(WORKER, lambda: taken + 1.0)

    result = tf.cond(number(WORKER, 1.0) > 0.0, use, lambda: taken)
    return [result], [5.0]


PROGRAMS = [
    taken_before_put,
    taken_here_used_there,
    from_one_queue_to_the_next,
    through_the_other_worker,
    tokens,
    accumulated,
    staged,
    behind_a_barrier,
    around_branches_and_loops,
    in_a_branch,
]


@pytest.mark.parametrize("master", [WORKER, PS])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_no_part_waits_for_what_it_has_to_do(
    program: Callable[[], tuple[list[Any], list[Any]]], master: str, servers: Servers
) -> None:
    config = tf.ConfigProto(isolate_session_state=True)
    target = servers[master.split(":")[1].partition("/")[0]][0].target
    with tf.Graph().as_default():
        fetches, expected = program()
        init = tf.global_variables_initializer()
        with tf.Session(target, config=config) as sess:
            sess.run(init)
            for order in (1, -1):
                values = sess.run(fetches[::order], options=LIMIT)[::order]
                if order == 1:
                    assert [v is None for v in values] == [e is None for e in expected]
                    np.testing.assert_equal(
                        [v for v in values if v is not None],
                        [e for e in expected if e is not None],
                    )
