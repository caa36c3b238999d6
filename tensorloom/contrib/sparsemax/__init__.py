"""`tf.contrib.sparsemax`: probabilities of which many are zero, and their loss."""
