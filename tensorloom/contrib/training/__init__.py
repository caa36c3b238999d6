"""`tf.contrib.training`: hyperparameters."""
