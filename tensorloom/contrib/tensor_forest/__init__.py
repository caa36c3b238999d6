"""`tf.contrib.tensor_forest`: random forests that grow from streams of examples."""
