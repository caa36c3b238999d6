"""A rule of one's own for parameter servers: old gradients count less.

    tensorloom run examples/research/staleness_aware.py

Each worker notes the version of the parameters that it reads. The server divides the
learning rate by one more than the number of updates since (Zhang et al., 2016,
"Staleness-aware Async-SGD for distributed deep learning"). One worker here is slow: it
applies the gradients of parameters that are many updates old.
"""

import numpy as np
import tensorflow as tf


def train(aware, steps=120, delay=12, rate=0.12):
    """The losses of two workers over one server, one `delay` updates behind."""
    tf.reset_default_graph()
    server = tf.train.Server.create_local_server()
    random = np.random.RandomState(0)
    xs = random.randn(256, 8).astype(np.float32)
    ys = xs @ np.arange(8, dtype=np.float32)[:, None]
    weights = tf.get_variable("weights", [8, 1], initializer=tf.zeros_initializer())
    version = tf.get_variable("version", [], tf.int64, tf.zeros_initializer())
    x, y = tf.placeholder(tf.float32, [None, 8]), tf.placeholder(tf.float32, [None, 1])
    loss = tf.reduce_mean(tf.square(tf.matmul(x, weights) - y))
    (gradient,) = tf.gradients(loss, [weights])
    given, read = tf.placeholder(tf.float32, [8, 1]), tf.placeholder(tf.int64, [])
    age = tf.cast(version - read, tf.float32) if aware else tf.zeros([])
    with tf.control_dependencies([age]):
        update = tf.group(
            weights.assign_sub(rate / (1.0 + age) * given), version.assign_add(1)
        )
    losses, waiting = [], []
    with tf.Session(server.target) as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(steps):
            rows = {x: xs[step % 8 :: 8], y: ys[step % 8 :: 8]}
            waiting.append(sess.run([gradient, version], rows))
            if step % 2 == 0 or len(waiting) > delay:  # the quick worker, the slow one
                fresh = waiting.pop() if step % 2 == 0 else waiting.pop(0)
                sess.run(update, {given: fresh[0], read: fresh[1]})
            losses.append(sess.run(loss, {x: xs, y: ys}))
    return losses


def main():
    plain, aware = train(aware=False), train(aware=True)
    print("largest loss in the second half, plain:", max(plain[60:]))
    print("and aware of staleness:                ", max(aware[60:]))
    assert max(aware[60:]) < max(plain[60:])


if __name__ == "__main__":
    main()
