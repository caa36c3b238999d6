"""`tf.contrib.text`: skip grams."""
