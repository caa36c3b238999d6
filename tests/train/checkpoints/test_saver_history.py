"""Which checkpoints a saver names and keeps."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf


@pytest.mark.parametrize(
    ("step", "suffix"),
    [
        (3, "-3"),
        (np.int64(4), "-4"),
        (np.uint8(5), "-5"),
        ("step:0", "-6"),
        ("tensor", "-6"),
    ],
)
def test_global_step(tmp_path: Path, step: Any, suffix: str) -> None:
    tensor = tf.get_variable("step", initializer=6)
    with tf.Session() as sess:
        sess.run(tensor.initializer)
        path = str(tmp_path / "m")
        saved = tf.train.Saver().save(sess, path, tensor if step == "tensor" else step)
    assert saved == path + suffix


def test_one_checkpoint_by_two_spellings_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    v = tf.get_variable("v", initializer=1.0)
    with tf.Session() as sess:
        sess.run(v.initializer)
        saver = tf.train.Saver(max_to_keep=1)
        saver.save(sess, "m")
        path = saver.save(sess, str(tmp_path / "m"))
        assert saver.last_checkpoints == [path]
        saver.restore(sess, path)
        saver.save(sess, "n")
    assert sorted(os.listdir()) == [
        "checkpoint",
        "n.data-00000-of-00001",
        "n.index",
        "n.meta",
    ]
