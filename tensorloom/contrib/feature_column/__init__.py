"""`tf.contrib.feature_column`: columns of sequences."""
