"""`tf.contrib.image`: projective transforms, warps, splines, components."""
