"""`tf.contrib.metrics`: the metrics under their first names, and some more."""
