"""`tf.gradients`: the reverse walk, through branches, loops and functions."""
