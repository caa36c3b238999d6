"""A debugged step in TensorFlow that tells a server: python grpc_sender.py ADDRESS"""

import sys


def main():
    import numpy as np
    import tensorflow as tf
    from tensorflow.python import debug

    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.square(x, name="y")
    large = tf.constant(np.ones([1500, 1000], np.float32)) + x
    large = tf.identity(large, name="large")
    sess = debug.GrpcDebugWrapperSession(tf.Session(), sys.argv[1])
    sess.run([y, large], {x: 3.0})
    sess = debug.TensorBoardDebugWrapperSession(
        tf.Session(), sys.argv[1], send_traceback_and_source_code=False
    )
    sess.run(y, {x: 4.0})
    sess.run(y, {x: 5.0})


if __name__ == "__main__":
    main()
