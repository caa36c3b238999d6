"""`tf.contrib.learn.preprocessing`: numbers for categories and for words."""
