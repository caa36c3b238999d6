"""The systems that are compared, as modules `tf`. Python 3.7, as the workloads."""

import importlib
import os
import warnings


def load(system):
    """The module that a workload calls `tf`.

    `system`: "tensorloom", or a version of TensorFlow ("1.15", "2.21").
    """
    if system == "tensorloom":
        return importlib.import_module("tensorloom")
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    warnings.simplefilter("ignore")
    if system.startswith("1."):
        import tensorflow as tf
    else:
        import tensorflow.compat.v1 as tf

        tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.FATAL)
    return tf
