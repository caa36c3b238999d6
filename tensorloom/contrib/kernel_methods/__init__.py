"""`tf.contrib.kernel_methods`: linear models of explicit kernel mappings."""
