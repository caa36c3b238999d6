"""`tf.keras.experimental`."""
