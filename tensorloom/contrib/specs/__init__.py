"""`tf.contrib.specs`: networks as expressions, such as `Cr(64, [3, 3]) | Flat`."""
