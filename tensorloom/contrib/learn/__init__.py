"""`tf.contrib.learn`: estimators, experiments, monitors, data sets and readers."""
