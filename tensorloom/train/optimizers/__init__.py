"""`tf.train`'s optimizers, their slots and learning-rate schedules."""
