"""A device kind of one's own: it counts what is copied to and from it.

tensorloom run examples/research/own_device.py
"""

import numpy as np
import tensorflow as tf
from comparing import compare, explained

from tensorloom.extend import CpuDevice, device_kind

COPIED = {"to": 0, "from": 0}  # bytes


@device_kind(count=1)
class CountingDevice(CpuDevice):
    """A CPU under another name, whose tensors are counted at its border."""

    device_type = "COUNTING"

    def from_host(self, array):
        """A tensor of an array."""
        COPIED["to"] += array.nbytes
        return super().from_host(array)

    def to_host(self, tensor):
        """An array of a tensor."""
        COPIED["from"] += tensor.nbytes
        return super().to_host(tensor)


def main():
    x = tf.Variable(np.ones([300, 300], np.float32))
    default = explained(tf.reduce_sum(tf.matmul(x, x)), devices=1)
    with tf.device("/device:COUNTING:0"):
        product = tf.matmul(x, x, name="product")
    own = explained(tf.reduce_sum(product), devices=1)
    compare(default, own)
    print(own.journal.placements["product"])
    print("bytes copied to and from it:", COPIED)


if __name__ == "__main__":
    main()
