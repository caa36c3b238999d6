"""Saves without end; started, and killed, by `test_saver_faults.py`.

For each line `MODE DIRECTORY` on its input it forks a process that saves, and prints
its number. That process writes the step of each finished save to `DIRECTORY.log`.
"""

from __future__ import annotations

import os
import sys

import numpy as np
import torch  # before the forks: loading it takes longer than a save

import tensorloom as tf
from tensorloom.dynamic_embedding import IncrementalSaver
from tensorloom.storage.files import spare_files

VARIABLES = 5


def save_forever(mode: str, directory: str) -> None:
    torch.set_num_threads(1)
    spare_files._LEAST = 1  # type: ignore[misc] - blocks of small files are kept too
    with (
        tf.Graph().as_default(),
        tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess,
    ):
        variables = []
        for index in range(VARIABLES):
            with tf.device(f"/device:CPU:{index % 2}"):
                variables.append(
                    tf.get_variable(
                        f"v{index}", initializer=np.zeros(20000, np.float32)
                    )
                )
        step = tf.placeholder(tf.float32, [])
        update = tf.group(*[v.assign(tf.fill([20000], step)) for v in variables])
        kind = IncrementalSaver if mode == "incremental" else tf.train.Saver
        saver = kind(max_to_keep=3, sharded=mode == "sharded")
        start = 1
        latest = tf.train.latest_checkpoint(directory)
        if latest is not None:
            saver.restore(sess, latest)
            start = int(sess.run(variables[0])[0]) + 1
            state = tf.train.get_checkpoint_state(directory)
            saver.recover_last_checkpoints(list(state.all_model_checkpoint_paths))
        log = os.open(directory + ".log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        for number in range(start, start + 100000):
            sess.run(update, {step: number})
            path = os.path.join(directory, "model")
            if mode == "background":
                saver.save_in_background(sess, path, global_step=number).result()
            elif mode == "incremental" and number % 5 and number > 1:
                saver.incremental_save(sess, number)
            else:
                same_name = mode == "overwrite"
                saver.save(sess, path, global_step=None if same_name else number)
            os.write(log, b"%d\n" % number)


def main() -> None:
    for line in sys.stdin:
        mode, directory = line.split()
        child = os.fork()
        if child == 0:
            save_forever(mode, directory)
        print(child, flush=True)
        os.waitpid(child, 0)
        print("ended", flush=True)


if __name__ == "__main__":
    main()
