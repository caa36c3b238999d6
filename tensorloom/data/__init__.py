"""`tf.data`: input pipelines as datasets, and the iterators over them."""
