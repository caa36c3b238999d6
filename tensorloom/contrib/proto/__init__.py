"""`tf.contrib.proto`: protocol messages as tensors."""
