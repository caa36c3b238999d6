"""`tf.image`: what is composed of ops; the ops themselves are in `ops/image_*`."""
