"""`tf.contrib.lookup`."""
