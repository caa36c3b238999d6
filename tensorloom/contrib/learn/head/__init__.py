"""`tf.contrib.learn.head`: from logits and labels to predictions, losses and metrics."""
