"""`tf.signal`: what is composed of ops; the transforms themselves are in `ops/`."""
