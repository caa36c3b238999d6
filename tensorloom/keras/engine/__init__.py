"""The base of all layers: `tf.layers`, recurrent cells and `tf.keras` stand on it."""
