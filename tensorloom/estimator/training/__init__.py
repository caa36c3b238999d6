"""`tf.estimator.train_and_evaluate`, alone or as a task of a cluster."""
