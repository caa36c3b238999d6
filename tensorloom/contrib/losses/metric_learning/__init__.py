"""`tf.contrib.losses.metric_learning`: losses of distances between embeddings."""
