"""`tf.contrib.optimizer_v2`: optimizers whose values are in a state for each graph."""
