"""`tf.contrib.batching`: calls of several steps, made together."""
