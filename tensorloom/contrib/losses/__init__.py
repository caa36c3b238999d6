"""`tf.contrib.losses`: losses as they first were, predictions before labels."""
