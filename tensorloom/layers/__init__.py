"""`tf.layers`: layers that own their variables."""
