"""A program of a user without rights, whose home can only be read."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Who may everything gives that up: what the modes of files say then holds for him, too.
GIVE_UP = ("setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs")
PROGRAM = """
import os, sys
import tensorloom as tf
try:
    open(os.path.expanduser("~/made"), "w")
    sys.exit("the home can be written to")
except PermissionError:
    pass
q = tf.FIFOQueue(4, tf.string, [[]])
words = tf.strings.to_hash_bucket_fast(q.dequeue_many(3), 10)  # a compiled loop
x = tf.get_variable("x", initializer=[[1., 2.]])
y = tf.layers.dense(x, 3)
train = tf.train.AdamOptimizer(.1).minimize(tf.reduce_sum(y * y))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run(q.enqueue_many([["a", "b", "a"]]))
    found = session.run(words).tolist()
    session.run(train)
    saver = tf.train.Saver()
    saver.restore(session, saver.save(session, sys.argv[1]))
print(found[0] == found[2])
"""


@pytest.mark.slow
def test_a_home_that_can_only_be_read(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "folder"
    home.mkdir()
    folder.mkdir()
    command = [sys.executable, "-c", PROGRAM, str(folder / "model")]
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("there is no setpriv, by which root gives up his rights")
        command = [*GIVE_UP, *command]
    environment = {k: v for k, v in os.environ.items() if k != "XDG_CACHE_HOME"}
    environment |= {"HOME": str(home), "PYTHONPATH": str(ROOT)}
    home.chmod(0o555)
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=300
        )
    finally:
        home.chmod(0o755)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    assert not list(home.iterdir())
