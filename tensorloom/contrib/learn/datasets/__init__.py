"""`tf.contrib.learn.datasets`: small data sets, read from files or computed."""
