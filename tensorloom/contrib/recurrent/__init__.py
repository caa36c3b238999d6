"""`tf.contrib.recurrent`: loops over time with one accumulator, and their gradients."""
