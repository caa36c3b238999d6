"""`tf.contrib.memory_stats`: how much memory a device has in use."""
