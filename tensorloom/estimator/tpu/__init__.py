"""`tf.estimator.tpu`: the interface of TPU programs, for their runs without TPUs."""
