"""`tf.estimator.inputs`: arrays and data frames as input of an Estimator."""
