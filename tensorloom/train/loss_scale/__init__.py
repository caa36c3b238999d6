"""Loss scales: gradients in float16 that do not vanish (`tf.train.experimental`)."""
