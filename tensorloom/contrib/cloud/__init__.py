"""`tf.contrib.cloud`: refused; what reads from Google Cloud."""
