"""Gradient boosted trees of `tf.contrib.boosted_trees`.

Signatures, shape functions, gradients.
"""
