"""One task of a group whose tasks do collectives together, each in its own session.

Usage: python member.py SYSTEM CLUSTER_JSON INDEX

Task 0 leads the group. Prints one JSON object a program, as `running.py` does; the
programs of all tasks must be the same. Runs on Python 3.7 too.
"""

import json
import os
import sys

import numpy as np
from running import load, plain

LEADER = "/job:worker/replica:0/task:0"
_LIMIT_MS = 100000


class Member:
    """What a program knows: the system, this task, and how many there are."""

    def __init__(self, tf, index, size, target):
        self.tf, self.index, self.size, self.target = tf, index, size, target
        self.device = f"/job:worker/task:{index}"
        self._instance = 0

    def config(self):
        """Of a session of this task alone."""
        config = self.tf.ConfigProto(device_filters=[self.device])
        config.experimental.collective_group_leader = LEADER
        # TensorFlow's optimizer would join reductions under other keys, which no
        # other system could know.
        config.graph_options.rewrite_options.scoped_allocator_optimization = 0
        return config

    def terms(self):
        """The attrs of the next collective."""
        self._instance += 1
        return {
            "group_size": self.size,
            "group_key": 1,
            "instance_key": self._instance,
        }

    def reduce(self, value, merge="Add", final="Id", offsets=(0,)):
        """The reduction of the tasks' values."""
        return self.tf.raw_ops.CollectiveReduce(
            input=value,
            merge_op=merge,
            final_op=final,
            subdiv_offsets=list(offsets),
            **self.terms(),
        )

    def broadcast(self, value, source):
        """The value of task `source`."""
        terms, shape = self.terms(), value.shape
        if self.index == source:
            return self.tf.raw_ops.CollectiveBcastSend(
                input=value, shape=shape, **terms
            )
        return self.tf.raw_ops.CollectiveBcastRecv(T=value.dtype, shape=shape, **terms)

    def steps(self, fetches, count=1):
        """What a session's steps give, once all variables are initialized."""
        tf = self.tf
        options = tf.RunOptions(timeout_in_ms=_LIMIT_MS)
        with tf.Session(self.target, config=self.config()) as sess:
            sess.run(tf.global_variables_initializer(), options=options)
            return [sess.run(fetches, options=options) for _ in range(count)]


def reductions(member):
    tf = member.tf
    fetches = []
    for dtype in ("float32", "float64", "int32", "int64"):
        for merge in ("Add", "Mul"):
            for final in ("Id", "Div"):
                value = tf.constant([[1, 2, 3], [6, 5, 4]], dtype) * (member.index + 1)
                fetches.append(member.reduce(value, merge, final))
    return member.steps(fetches, 2)


def sizes(member):
    """Of one and of several parts; a few numbers of each, and their sum."""
    tf = member.tf
    fetches = []
    for count, offsets in ((1, (0,)), (17, (0, 0)), (3000000, (0,)), (5000000, ())):
        value = tf.cast(tf.range(count) % 1000, tf.float32) + member.index
        total = member.reduce(value, offsets=offsets)
        fetches.append([total[:3], total[-3:], tf.reduce_sum(total % 7.0)])
    return member.steps(fetches, 2)


def gathered(member):
    tf = member.tf
    fetches = []
    for shape in ((1,), (2, 3), (100000,)):
        value = tf.ones(shape) * (member.index + 1)
        whole = tf.raw_ops.CollectiveGather(
            input=value, shape=[shape[0] * member.size, *shape[1:]], **member.terms()
        )
        fetches.append([tf.shape(whole), whole[:5], whole[-5:]])
    return member.steps(fetches, 2)


def sent_by_the_leader(member):
    tf = member.tf
    value = tf.constant([[1.0, 2.0], [3.0, 4.0]]) * (member.index + 1)
    large = tf.range(200000) + member.index
    found = [member.broadcast(value, 0), member.broadcast(large, 0)[-2:]]
    return member.steps(found, 2)


def one_needs_another(member):
    """In an order that each task's graph gives."""
    tf = member.tf
    value = tf.constant([1.0, 2.0]) * (member.index + 1)
    for _ in range(4):
        value = member.reduce(value * 2.0, final="Div") + 1.0
    return member.steps(value, 3)


def trained_by_hand(member):
    """Variables that stay the same on all tasks."""
    tf = member.tf
    random = np.random.RandomState(0)
    x = random.randn(12, 3).astype(np.float32)
    y = x.sum(1, keepdims=True)
    part = slice(
        member.index * 12 // member.size, (member.index + 1) * 12 // member.size
    )
    with tf.device(member.device):
        w = tf.get_variable("w", [3, 1], initializer=tf.zeros_initializer())
        loss = tf.reduce_sum(tf.square(tf.matmul(tf.constant(x[part]), w) - y[part]))
        (gradient,) = tf.gradients(loss, w)
        update = w.assign_sub(member.reduce(gradient) * 0.02)
        with tf.control_dependencies([update]):
            total = member.reduce(loss)
            fetches = [total, w.read_value()]
    return member.steps(fetches, 5)


def trained_with_a_strategy(member):
    tf = member.tf
    cluster = {"worker": ["x:1"] * member.size}
    os.environ["TF_CONFIG"] = json.dumps(
        {"cluster": cluster, "task": {"type": "worker", "index": member.index}}
    )
    strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
    rows = tf.constant([[1.0, 2.0], [3.0, -1.0]]) * (member.index + 1)
    with strategy.scope():

        def step():
            w = tf.get_variable(
                "strategy_w", [2, 1], initializer=tf.random_normal_initializer(seed=3)
            )
            loss = tf.reduce_sum(tf.square(tf.matmul(rows, w) - 1.0)) / member.size
            update = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)
            with tf.control_dependencies([update]):
                return tf.identity(loss)

        losses = strategy.extended.call_for_each_replica(step)
        loss = strategy.reduce(tf.distribute.ReduceOp.SUM, losses)
        return member.steps(loss, 6)


def sent_by_another(member):
    """TensorFlow 1.15's leader does not hear who sends, unless it does itself."""
    value = member.tf.constant([1.0, 2.0]) * (member.index + 1)
    return member.steps(member.broadcast(value, 1))


PROGRAMS = [
    reductions,
    sizes,
    gathered,
    sent_by_the_leader,
    one_needs_another,
    trained_by_hand,
    trained_with_a_strategy,
    sent_by_another,
]


def main():
    """Runs all programs, with a server of this task."""
    system, cluster, index = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3])
    tf = load(system)
    config = tf.ConfigProto()
    config.experimental.collective_group_leader = LEADER
    server = tf.train.Server(cluster, "worker", index, config=config)
    member = Member(tf, index, len(cluster["worker"]), server.target)
    for program in PROGRAMS:
        tf.reset_default_graph()
        try:
            with tf.device(member.device):
                found = {"result": plain(program(member))}
        except tf.errors.OpError as error:
            found = {"error": type(error).__name__, "message": error.message}
        except Exception as error:  # a defect of the program or the system
            found = {"failure": f"{type(error).__name__}: {error}"}
        print(json.dumps({"name": program.__name__, **found}), flush=True)
    server.join()  # until the test has heard of all tasks
