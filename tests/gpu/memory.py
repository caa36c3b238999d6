"""Memory of a GPU: what a process takes, its share, and what it is told at the end."""

from __future__ import annotations

from typing import Any

import tensorloom as tf
from tensorloom.devices import cuda
from tests.gpu.target import GPU, Target

MEGABYTE = 1 << 20


def check(target: Target) -> list[str]:
    """What is wrong."""
    return [*_growth(target), *_error_names_the_node(target), *_share(target)]


def _limit(session: Any) -> int:
    return next(
        d.memory_limit_bytes for d in session.list_devices() if d.name.endswith(GPU)
    )


def _fill(gigabytes_of: Any) -> Any:
    with tf.device(GPU):
        return tf.fill([gigabytes_of, MEGABYTE // 4], 1.0, name="much")


def _growth(target: Target) -> list[str]:
    """A session that computes little takes little, with `allow_growth` and without."""
    wrong = []
    for grows in (True, False):
        config = tf.ConfigProto()
        config.gpu_options.allow_growth = grows
        with tf.Graph().as_default(), tf.Session(config=config) as session:
            before = target.module.memory_allocated(target.device())
            with tf.device(GPU):
                small = tf.reduce_sum(tf.fill([1000], 1.0))
            if session.run(small) != 1000:
                wrong.append("1000 ones do not sum up to 1000")
            taken = target.module.memory_allocated(target.device()) - before
            if taken > 64 * MEGABYTE:
                wrong.append(f"with allow_growth={grows} a small step took {taken}")
    return wrong


def _error_names_the_node(target: Target) -> list[str]:
    """A tensor larger than the GPU is an error of its node; the session goes on."""
    with tf.Graph().as_default(), tf.Session() as session:
        rows = tf.placeholder(tf.int32, [])
        much = _fill(rows)
        least = much[0, 0]
        too_many = 2 * _limit(session) // MEGABYTE
        try:
            session.run(least, {rows: too_many})
        except tf.errors.ResourceExhaustedError as error:
            wrong = [
                f"the error of too much memory does not say {word!r}: {error.message}"
                for word in ("OOM", "much", "GPU:0")
                if word not in error.message
            ]
        else:
            wrong = ["a tensor of twice the memory was made"]
        if session.run(least, {rows: 2}) != 1.0:
            wrong.append("after too much memory was asked for, steps are wrong")
    return wrong


def _share(target: Target) -> list[str]:
    """`per_process_gpu_memory_fraction` is what sessions show, and may not exceed."""
    before = dict(cuda._shares)
    whole = target.module.get_device_properties(target.device()).total_memory
    config = tf.ConfigProto()
    config.gpu_options.per_process_gpu_memory_fraction = 0.25
    wrong = []
    cuda._shares.clear()  # as in a process whose first session this is
    try:
        with tf.Graph().as_default(), tf.Session(config=config) as session:
            if abs(_limit(session) - whole / 4) > whole / 100:
                wrong.append(f"a quarter of {whole} is shown as {_limit(session)}")
            least = _fill(int(whole * 0.4) // MEGABYTE)[0, 0]
            try:
                session.run(least)
                wrong.append("two fifths of the memory were made of a quarter")
            except tf.errors.ResourceExhaustedError:
                pass
    finally:
        target.module.set_per_process_memory_fraction(1.0, target.device())
        cuda._shares.clear()
        cuda._shares.update(before)
    return wrong
