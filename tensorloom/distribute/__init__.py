"""`tf.distribute`: strategies, which build a model once for each of several devices."""
