"""`tf.contrib.boosted_trees`: its names, which say what to use instead."""
