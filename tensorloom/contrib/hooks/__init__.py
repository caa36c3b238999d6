"""`tf.contrib.hooks`: hooks of sessions."""
