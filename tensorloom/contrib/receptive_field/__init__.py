"""`tf.contrib.receptive_field`: what of an image a feature of a network sees."""
