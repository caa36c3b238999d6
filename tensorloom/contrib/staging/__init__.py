"""`tf.contrib.staging`: areas where tensors wait for their step."""
