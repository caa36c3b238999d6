"""Heads of the earlier surface: `create_loss` and `create_estimator_spec`.

Ready-made models of TensorFlow 1 stand on them: the loss is summed over the batch
unless they are told otherwise, and metrics are those of `tf.metrics`.
"""
