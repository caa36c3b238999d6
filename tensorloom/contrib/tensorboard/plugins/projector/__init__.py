"""`tf.contrib.tensorboard.plugins.projector`: embeddings to look at."""
