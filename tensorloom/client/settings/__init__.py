"""`tf.config`: settings of the process, which sessions without a config have."""
