"""`tf.keras.layers`."""
