"""`tf.contrib.model_pruning`: weights that are set to zero while they are trained."""
