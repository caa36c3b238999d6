"""`tf.contrib.nn`: dropout, losses and functions of networks."""
