"""`tf.contrib.estimator`: heads of models, and what extends Estimators."""
