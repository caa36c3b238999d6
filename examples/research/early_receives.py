"""A schedule of one's own: a part receives all that it can before it computes.

    tensorloom run examples/research/early_receives.py

The default receives a tensor right before its first use. A part that receives first
waits at its start, and keeps every tensor longer: the peak of memory tells.
"""

import numpy as np
import tensorflow as tf
from comparing import compare, explained

from tensorloom.extend import schedule


@schedule("receives_first")
def receives_first(nodes):
    """Between two sends, the receives come first: no part waits for itself so."""
    order, rest = [], []
    for node in nodes:
        if node.op == "_Recv" and not node.producers:
            order.append(node.name)
        else:
            rest.append(node.name)
        if node.op == "_Send":
            order += rest
            rest = []
    return order + rest


def main():
    rows = [tf.Variable(np.full([200, 200], 0.001 * i, np.float32)) for i in range(8)]
    ends = []
    for row in rows:
        with tf.device("/cpu:0"):
            far = tf.nn.relu(tf.matmul(row, row))
        with tf.device("/cpu:1"):
            ends.append(tf.reduce_sum(tf.tanh(far)))
    with tf.device("/cpu:1"):
        total = tf.add_n(ends)
    default, own = explained(total), explained(total, "receives_first")
    compare(default, own)
    peaks = [
        {memory.device[-1]: memory.peak for memory in one.memory.devices}
        for one in (default, own)
    ]
    print("peak on CPU:1, in bytes:", peaks[0]["1"], "and", peaks[1]["1"])
    assert peaks[1]["1"] > peaks[0]["1"]


if __name__ == "__main__":
    main()
