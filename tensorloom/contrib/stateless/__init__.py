"""`tf.contrib.stateless`: random numbers that are a function of a seed."""
