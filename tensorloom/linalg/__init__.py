"""`tf.linalg` functions that need control flow: they stand on the client."""
