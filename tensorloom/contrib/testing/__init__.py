"""`tf.contrib.testing`: summaries that tests look at."""
