"""A partitioner of one's own: cheap nodes are computed twice instead of sent.

    tensorloom run examples/research/recomputing_partitioner.py

The default cuts each edge between devices, and sends what goes over it. Here a node
that is cheap, and whose inputs cross anyway, gets a copy on the other side.
"""

import numpy as np
import tensorflow as tf
from comparing import compare, explained

from tensorloom.extend import placed_pass

CHEAP = {"Neg", "Square", "Relu", "Cast", "Const", "Mul", "Add", "AddV2"}


@placed_pass("recompute")
def recompute(graph):
    """before: x@A, a@A = Neg(x), b@B = Mul(a, x)    after: ... a_again@B, b@B"""
    done = {}
    reads = {}  # by device: what its nodes read
    for node in graph.nodes.values():
        reads.setdefault(node.device, set()).update(name for name, _ in node.inputs)

    def here(name, device):
        """The node itself, or a copy of it on the device."""
        node = done[name]
        if node.device == device or node.op not in CHEAP or node.control_inputs:
            return name
        if not {source for source, _ in node.inputs} <= reads[device]:
            return name
        copy = name + "_again_" + device[-1]
        if copy not in done:
            inputs = tuple((here(n, device), i) for n, i in node.inputs)
            done[copy] = node.replace(name=copy, device=device, inputs=inputs)
        return copy

    for node in graph.nodes.values():
        inputs = tuple((here(name, node.device), i) for name, i in node.inputs)
        done[node.name] = node.replace(inputs=inputs)
    return graph.with_nodes(done.values())


def main():
    x = tf.Variable(np.linspace(0.0, 1.0, 100_000, dtype=np.float32))
    squares, negative = tf.square(x), tf.negative(x)
    with tf.device("/cpu:1"):
        total = tf.reduce_sum(tf.exp(negative) * squares + x)
    compare(explained(total), explained(total, "recompute"))


if __name__ == "__main__":
    main()
