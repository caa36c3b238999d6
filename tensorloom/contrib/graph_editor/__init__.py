"""`tf.contrib.graph_editor`: changes and copies of finished graphs."""
