"""`tf.contrib.eager`: what of it works in graphs; the rest says what to use instead."""
