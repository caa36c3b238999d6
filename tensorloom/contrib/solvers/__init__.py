"""`tf.contrib.solvers`: linear equations by iteration."""
