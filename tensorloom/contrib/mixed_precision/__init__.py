"""`tf.contrib.mixed_precision`: losses that are scaled for float16."""
