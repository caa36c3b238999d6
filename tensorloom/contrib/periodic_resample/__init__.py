"""`tf.contrib.periodic_resample`: values moved into other dimensions."""
