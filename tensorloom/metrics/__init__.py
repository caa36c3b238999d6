"""`tf.metrics`: metrics whose state grows batch by batch in local variables."""
