"""`tf.contrib.reduce_slice_ops`: reductions of many slices, which may overlap."""
