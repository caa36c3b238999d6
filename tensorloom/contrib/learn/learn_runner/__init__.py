"""`tf.contrib.learn.learn_runner`: runs an experiment as its task in a cluster."""
