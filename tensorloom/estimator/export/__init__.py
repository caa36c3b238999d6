"""`tf.estimator.export`: what exported models take and give."""
