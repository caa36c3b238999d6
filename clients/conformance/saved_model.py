"""Writes the SavedModel that the conformance suite loads.

Usage: python clients/conformance/saved_model.py DIRECTORY
"""

from __future__ import annotations

import sys

import tensorloom as tf


def main(directory: str) -> None:
    """A linear model of three features and two scores, in one variable and one bias."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        weights = tf.get_variable(
            "weights", initializer=[[2.0, 1.0], [0.0, 4.0], [2.0, 1.0]]
        )
        scores = tf.add(tf.matmul(x, weights), 0.5, name="scores")
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, directory, {"x": x}, {"scores": scores})


if __name__ == "__main__":
    main(sys.argv[1])
