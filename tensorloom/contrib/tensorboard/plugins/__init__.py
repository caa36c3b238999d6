"""`tf.contrib.tensorboard.plugins`."""
