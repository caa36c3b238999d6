"""`tf.contrib.cluster_resolver`: the resolvers of `tf.distribute.cluster_resolver`."""
