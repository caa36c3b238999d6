"""`tf.contrib.autograph`: the older names of `tf.autograph`."""
