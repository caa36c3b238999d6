"""Checkpoints are restored before torch is loaded; the values are then as with it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tensorloom as tf

SIZE = 1 << 17  # elements, large enough to be taken over

_PROGRAM = """
import sys
import numpy as np
import tensorloom as tf

path = sys.argv[1]
kinds = [False, True, False]
variables = [
    tf.get_variable("v%d" % i, [2, {size}], use_resource=kind)
    for i, kind in enumerate(kinds)
]
saver = tf.train.Saver(variables)
(same,) = tf.raw_ops.RestoreV2(
    prefix=path, tensor_names=["v0"], shape_and_slices=[""], dtypes=[tf.float32])
twins = [
    tf.get_variable("twin%d" % i, [2, {size}], use_resource=kind)
    for i, kind in enumerate(kinds)
]
assigned = tf.group(*[twin.assign(same) for twin in twins])
sess = tf.Session()
saver.restore(sess, path)
assert "torch" not in sys.modules
sess.run(assigned)
expected = np.arange(2 * {size}, dtype=np.float32).reshape(2, {size})
sess.run([variables[0].assign_add(expected), twins[0].assign_add(expected)])
for variable in variables + twins:
    times = 2 if variable in (variables[0], twins[0]) else 1
    held = sess.run(variable)
    assert held.dtype == np.float32
    assert (held == times * expected).all(), variable.name
saver.restore(sess, path)
assert (sess.run(variables[0]) == expected).all()
print("done")
"""


@pytest.mark.slow
def test_fresh_process(tmp_path: Path) -> None:
    prefix = str(tmp_path / "m")
    value = np.arange(2 * SIZE, dtype=np.float32).reshape(2, SIZE)
    with tf.Graph().as_default(), tf.Session() as sess:
        sess.run(
            tf.raw_ops.SaveV2(
                prefix=prefix,
                tensor_names=["v0", "v1", "v2"],
                shape_and_slices=[""] * 3,
                tensors=[value] * 3,
            )
        )
    program = _PROGRAM.format(size=SIZE)
    result = subprocess.run(
        [sys.executable, "-c", program, prefix],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.stdout == "done\n", result.stderr
