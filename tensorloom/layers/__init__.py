"""`tf.layers`: layers that share variables by variable scopes."""
