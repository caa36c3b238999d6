"""What the programs of this folder share: sessions with stages of one's own."""

import numpy as np
import tensorflow as tf


def session(*stages, devices=2):
    """A session with initialized variables that uses the named stages."""
    config = tf.ConfigProto(device_count={"CPU": devices})
    for name in stages:
        config.graph_options.rewrite_options.custom_optimizers.add(name=name)
    sess = tf.Session(config=config)
    sess.run(tf.global_variables_initializer())
    return sess


def explained(fetches, *stages, devices=2):
    """The explanation of a step's second run."""
    with session(*stages, devices=devices) as sess:
        sess.run(fetches)  # kernels are loaded
        return sess.explain(fetches)


def compare(default, own):
    """Prints what differs between two explanations, whose results must agree."""
    print(default.compare(own))
    np.testing.assert_allclose(own.results, default.results, rtol=1e-4)
    print("the results are equal")
