"""`tf.contrib.rpc`: refused; calls of other services."""
