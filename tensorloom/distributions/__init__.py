"""Probability distributions (`tf.distributions`)."""
