"""`tf.contrib.bayesflow`: expectations by draws."""
