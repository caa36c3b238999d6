"""`tf.cond`, `tf.while_loop` and what is built on them."""
