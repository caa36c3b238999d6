"""`tf.contrib.learn.graph_actions`: trains, evaluates and runs graphs."""
