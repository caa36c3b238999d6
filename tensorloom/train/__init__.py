"""Training: optimizers, steps and what belongs to them (`tf.train`)."""
