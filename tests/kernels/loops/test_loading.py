"""Only what is worth it loads numba."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PROGRAM = """
import sys
import numpy as np
import tensorloom as tf

words = tf.placeholder(tf.int32, [8])
image = tf.placeholder(tf.float32, [8, 6, 6, 1])
kernel = tf.get_variable("kernel", [3, 3, 1, 4])
table = tf.get_variable("table", [50, 4])
seen = tf.reduce_mean(tf.nn.relu(tf.nn.conv2d(image, kernel, 1, "SAME")), [1, 2])
both = tf.nn.dropout(seen + tf.nn.embedding_lookup(table, words), rate=0.5)
logits = tf.matmul(both, tf.get_variable("weights", [4, 10]))
losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=words, logits=logits)
loss = tf.reduce_mean(losses) + tf.reduce_mean(
    tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.sign(logits), logits=logits)
)
trains = [
    tf.train.AdamOptimizer().minimize(loss),
    tf.train.GradientDescentOptimizer(0.1).minimize(loss),
]
text = tf.strings.join([tf.strings.as_string(words), "x"])
found = tf.strings.to_hash_bucket_fast(text, 10), tf.unique(words)[0], tf.nn.top_k(seen)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    feed = {words: np.arange(8), image: np.ones([8, 6, 6, 1])}
    sess.run([loss, trains, found], feed)
assert "numba" not in sys.modules
"""


def test_no_module_imports_loops_at_its_top() -> None:
    for path in (ROOT / "tensorloom").rglob("*.py"):
        if "loops" in path.parts:
            continue
        for statement in ast.parse(path.read_text()).body:
            names = [alias.name for alias in getattr(statement, "names", ())]
            module = getattr(statement, "module", None) or ""
            for name in (module, *(f"{module}.{name}".strip(".") for name in names)):
                is_of_numba = name.split(".")[0] in ("numba", "llvmlite")
                assert not is_of_numba, path
                assert not name.startswith("tensorloom.kernels.loops"), path


@pytest.mark.multiprocess
def test_an_ordinary_program_loads_no_numba() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
