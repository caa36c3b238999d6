"""`tf.contrib.framework`: model variables, argument scopes, checkpoints, checks."""
