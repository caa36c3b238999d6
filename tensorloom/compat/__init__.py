"""`tf.compat`, and what programs of TensorFlow 1's years find missing today."""
