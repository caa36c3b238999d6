"""`tf.contrib.checkpoint`: objects in checkpoints."""
