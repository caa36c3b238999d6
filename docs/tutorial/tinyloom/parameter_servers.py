"""Chapter 8: parameter servers. Workers train one model side by side.

The variables live on one task and are read and changed by all; each worker has its own
data, its own session, and waits for nobody.
"""

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np

from tinyloom.cluster import ClusterSession
from tinyloom.graph import Graph
from tinyloom.session import descend, line_data, line_fit


def train(server, worker, seed, steps=150, rate=0.05):
    """One worker's loop; the model's variables are on the server's task.

    Returns:
      The loss of its last step.
    """
    g = Graph()
    with g.device(server):  # also the variables: the same names are the same ones
        w, b = g.variable(np.zeros([3, 1]), "w"), g.variable([0.0], "b")
    with g.device(worker):
        x, y = g.placeholder("x"), g.placeholder("y")
        difference = x @ w + b - y
        loss = g.add("Mean", difference * difference, name="loss")
        updates = descend(loss, [w, b], rate)
    sess = ClusterSession(g, [worker, server])
    xs, ys = line_data(seed=seed)
    for _ in range(steps):
        value = sess.run([loss, *updates], {x: xs, y: ys})[0]
    return float(value)


def start_tasks(count):
    """Starts workers in processes of their own.

    Returns:
      The processes and the tasks' addresses.
    """
    command = [sys.executable, "-m", "tinyloom.cluster"]
    processes = [
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).resolve().parents[1],
        )
        for _ in range(count)
    ]
    return processes, [process.stdout.readline().strip() for process in processes]


def main():
    """A server and two workers fit a line; prints what they found."""
    processes, (server, *workers) = start_tasks(3)
    try:
        losses = {}
        threads = [
            threading.Thread(
                target=lambda w=w, i=i: losses.update({w: train(server, w, i)})
            )
            for i, w in enumerate(workers)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print("losses", sorted(losses.values()))
        # Anybody who knows the names can read the variables.
        g = Graph()
        with g.device(server):
            w, b = line_fit(g)[3]
        w, b = ClusterSession(g, [server]).run([w, b])
        print("w", w.ravel(), "b", b)
    finally:
        for process in processes:
            process.kill()
            process.wait()
            process.stdout.close()


if __name__ == "__main__":
    main()
