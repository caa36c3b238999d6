"""`tf.contrib.data`: what is `tf.data.experimental` now."""
