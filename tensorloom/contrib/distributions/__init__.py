"""`tf.contrib.distributions`: so far what `tf.distributions` has, too."""
