"""`tf.contrib.distribute`: strategies under their names and arguments of before."""
