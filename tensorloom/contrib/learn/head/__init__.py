"""`tf.contrib.learn.head`: predictions, losses and metrics of logits."""
