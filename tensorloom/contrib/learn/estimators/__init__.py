"""The models of `tf.contrib.learn`."""
