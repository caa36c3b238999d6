"""`tf.contrib.input_pipeline`: the elements of a list, one a step."""
