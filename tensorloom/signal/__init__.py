"""`tf.signal`: frames, windows, short-time transforms, made from other ops."""
