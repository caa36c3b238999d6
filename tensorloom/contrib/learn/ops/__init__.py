"""`tf.contrib.learn.ops`: embeddings, losses and sequences of small models."""
