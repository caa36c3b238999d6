"""A task of an elastic job.

    python -m tests.elastic.task ps INDEX ADDRESS
    python -m tests.elastic.task worker INDEX ADDRESS DIRECTORY

A worker says `ready`, then answers each line of its input: `step` with `made` and how
many steps it has made, `lost` for one that was lost; `values` with the elements of its
four variables, each of which gets one more in each step, and by shard their servers.
"""

from __future__ import annotations

import json
import sys

import tensorloom as tf
import tensorloom.elastic as elastic

_SHARDS = 4


def main() -> None:
    """Runs the task."""
    tf.logging.set_verbosity(tf.logging.INFO)
    job, index, address = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    server = tf.train.Server({job: {index: address}}, job, index)
    if job == "ps":
        print("ready", flush=True)
        elastic.serve(server)
    else:
        _work(server, index, sys.argv[4])
        server.stop()


def _work(server: tf.train.Server, index: int, directory: str) -> None:
    device = f"/job:worker/task:{index}"
    with tf.device(tf.train.replica_device_setter(_SHARDS, worker_device=device)):
        variables = [
            tf.get_variable(f"v{n}", [1000], initializer=tf.zeros_initializer())
            for n in range(_SHARDS)
        ]
        step = tf.train.get_or_create_global_step()
        one = tf.placeholder(tf.float32, [])
        loss = -one * tf.add_n([tf.reduce_sum(v) for v in variables])
        train = tf.train.GradientDescentOptimizer(1.0).minimize(loss, global_step=step)
        first = [v.read_value()[0] for v in variables]
    with elastic.MonitoredTrainingSession(
        server,
        is_chief=index == 0,
        checkpoint_dir=directory,
        save_checkpoint_steps=10_000_000,
        save_summaries_steps=None,
        log_step_count_steps=None,
        servers=2,
    ) as session:
        print("ready", flush=True)
        made = 0
        for line in sys.stdin:
            try:
                if line.strip() == "step":
                    session.run(train, {one: 1.0})
                    made += 1
                    print("made", made, flush=True)
                else:
                    values = [float(v) for v in session.run(first)]
                    homes = session._tf_sess().plan.homes
                    servers = [homes[shard].server for shard in range(_SHARDS)]
                    print("values", json.dumps([values, servers]), flush=True)
            except elastic.StepLostError:
                print("lost", flush=True)


if __name__ == "__main__":
    main()
