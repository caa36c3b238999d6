"""Gradient boosted trees of `tf.contrib.boosted_trees`, over NumPy values.

Sums are float32 and in TensorFlow's order, so that trees come out the same.
"""
