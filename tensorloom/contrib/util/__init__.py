"""`tf.contrib.util`: tensors as messages, and the ops of graphs."""
