"""A pass of one's own: x * x becomes Square(x), and explain tells which nodes it took.

tensorloom run examples/research/own_pass.py
"""

import numpy as np
import tensorflow as tf
from comparing import compare, explained

from tensorloom.extend import graph_pass


@graph_pass("square")
def square(graph, target):
    """before: y = Mul(x, x)    after: y = Square(x)"""
    return graph.with_nodes(
        node.replace(op="Square", inputs=node.inputs[:1])
        if node.op == "Mul" and node.inputs[0] == node.inputs[1]
        else node
        for node in graph.nodes.values()
    )


def main():
    x = tf.Variable(np.linspace(-1.0, 1.0, 1000, dtype=np.float32))
    energy = tf.reduce_sum(x * x + tf.exp(x) * x, name="energy")
    default, own = explained(energy), explained(energy, "square")
    compare(default, own)
    change = own.diff("square")
    print("changed by the pass:", ", ".join(change.changed))
    for event in own.node(change.changed[0]):
        print("  %-12s %s" % (event.stage, event.text))
    assert own.fates["mul"].stage == "square"


if __name__ == "__main__":
    main()
