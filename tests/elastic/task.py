"""A task of an elastic job.

    python -m tests.elastic.task ps INDEX ADDRESS
    python -m tests.elastic.task worker INDEX ADDRESS DIRECTORY [held]

A worker says `ready`, then answers each line of its input: `step` with `made` and how
many steps it has made, `lost` for one that was lost; `values` with the elements of its
four variables, each of which gets one more in each step, and by shard their servers.

`held` gives it an embedding variable as well, of which `rows` tells a row of each
shard, and has it hold copies of all shards; to `held` it answers with the least step of
these.
"""

from __future__ import annotations

import json
import sys

import tensorloom as tf
import tensorloom.dynamic_embedding as de
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
        _work(server, index, sys.argv[4], sys.argv[5:] == ["held"])
        server.stop()


def _held_step(server: tf.train.Server) -> int:
    """The least of the steps of the copies that a worker holds; 0 if one is missing."""
    marks: dict[str, int] = {}
    for one in server._worker.resources():
        if one.container.startswith("elastic.held.") and one.name == "mark":
            shard = one.container.split(".")[2]
            marks[shard] = max(int(one.value), marks.get(shard, 0))
    return min(marks.values()) if len(marks) == _SHARDS else 0


def _work(server: tf.train.Server, index: int, directory: str, holds: bool) -> None:
    device = f"/job:worker/task:{index}"
    with tf.device(tf.train.replica_device_setter(_SHARDS, worker_device=device)):
        variables = [
            tf.get_variable(f"v{n}", [1000], initializer=tf.zeros_initializer())
            for n in range(_SHARDS)
        ]
        step = tf.train.get_or_create_global_step()
        one = tf.placeholder(tf.float32, [])
        loss = -one * tf.add_n([tf.reduce_sum(v) for v in variables])
        rows = []
        if holds:
            table = de.get_variable(
                "rows",
                dim=2,
                partitioner=tf.fixed_size_partitioner(_SHARDS),
                initializer=tf.zeros_initializer(),
            )
            loss -= one * tf.reduce_sum(table.lookup(list(range(_SHARDS))))
            rows = [
                (
                    tf.DeviceSpec.from_string(part.device).task,
                    part.sparse_read([key])[0],
                )
                for key, part in enumerate(table.shards)
            ]
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
        held_copies_secs=0.2 if holds else None,
    ) as session:
        print("ready", flush=True)
        made = 0
        for line in sys.stdin:
            try:
                if line.strip() == "step":
                    session.run(train, {one: 1.0})
                    made += 1
                    print("made", made, flush=True)
                elif line.strip() == "held":
                    print("held", _held_step(server), flush=True)
                elif line.strip() == "rows":
                    found = session.run([row for _, row in rows])
                    homes = session._tf_sess().plan.homes
                    told = [
                        (float(row[0]), homes[shard].server)
                        for (shard, _), row in zip(rows, found, strict=True)
                    ]
                    print("values", json.dumps(told), flush=True)
                else:
                    values = [float(v) for v in session.run(first)]
                    homes = session._tf_sess().plan.homes
                    servers = [homes[shard].server for shard in range(_SHARDS)]
                    print("values", json.dumps([values, servers]), flush=True)
            except elastic.StepLostError:
                print("lost", flush=True)


if __name__ == "__main__":
    main()
