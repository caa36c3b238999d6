"""`tf.keras`: layers, and what layers are made of."""
