"""`tf.contrib.deprecated`: the first summaries."""
