"""A chief that trains as its standard input says.

    python -m tests.coordination.chief DIRECTORY

It says `ready` with the global step when its session is there, then answers each line
`step` with the step that it has made; it ends with the input.
"""

from __future__ import annotations

import sys

import tensorloom as tf


def main() -> None:
    """Trains."""
    tf.logging.set_verbosity(tf.logging.INFO)
    step = tf.train.get_or_create_global_step()
    train = tf.assign_add(step, 1)
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=sys.argv[1],
        save_checkpoint_steps=1,
        log_step_count_steps=None,
        save_summaries_steps=None,
    ) as session:
        found = session.run_step_fn(lambda step_context: step_context.session.run(step))
        print("ready", found, flush=True)
        for _ in sys.stdin:
            print("made", session.run(train), flush=True)


if __name__ == "__main__":
    main()
