"""`tf.contrib.slim`: the layers and variables of `tf.contrib`, under one name."""
