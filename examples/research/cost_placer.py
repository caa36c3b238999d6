"""A placer of one's own: a node goes where it can end first, by measured times.

    tensorloom run examples/research/cost_placer.py

A step is traced once with the default placer. Then each node, in order, goes to the
device on which it ends first: when its inputs are there and the device is free.
"""

import numpy as np
import tensorflow as tf
from comparing import compare, explained

from tensorloom.extend import placer

TRANSFER = 50e-6  # seconds that a tensor from another device costs


def towers(count=4, size=300, depth=6):
    """Independent chains of products, and the sum of their ends."""
    ends = []
    for tower in range(count):
        with tf.name_scope("tower%d" % tower):
            value = np.full([size, size], 0.01 + tower * 1e-3, np.float32)
            x = tf.Variable(value, name="v") * 0.1
            for _ in range(depth):
                x = tf.nn.relu(tf.matmul(x, x) + x)
            ends.append(tf.reduce_sum(x))
    return tf.add_n(ends, name="total")


def main():
    total = towers()
    default = explained(total)
    seconds = {node.node: node.seconds for node in default.times.nodes}

    @placer("by_cost")
    def by_cost(graph, devices):
        names = [device.name for device in devices]
        free, home, ready = dict.fromkeys(names, 0.0), {}, {}
        for node in graph.nodes.values():
            ends = {}
            for device in names:
                waits = [
                    ready[name] + TRANSFER * (home[name] != device)
                    for name, _ in node.inputs
                ]
                start = max([free[device], *waits])
                ends[device] = start + seconds.get(node.name, 1e-6)
            best = min(names, key=ends.get)
            home[node.name], free[best], ready[node.name] = best, *[ends[best]] * 2
        return home

    compare(default, explained(total, "by_cost"))


if __name__ == "__main__":
    main()
