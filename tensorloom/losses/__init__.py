"""`tf.losses`: losses with weights, and the collection that keeps them."""
