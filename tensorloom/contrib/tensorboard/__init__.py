"""`tf.contrib.tensorboard`: what its plugins read."""
