"""`tf.contrib.distributions.bijectors`: invertible functions of random variables."""
