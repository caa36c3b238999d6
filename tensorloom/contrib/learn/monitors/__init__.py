"""`tf.contrib.learn.monitors`: what looks on while a model is trained."""
