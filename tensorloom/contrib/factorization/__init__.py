"""`tf.contrib.factorization`: k-means, mixtures of Gaussians, matrix factorization."""
