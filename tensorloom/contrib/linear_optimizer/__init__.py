"""`tf.contrib.linear_optimizer`: stochastic dual coordinate ascent."""
