"""`tf.contrib.learn.utils`: inputs of served models, and exports."""
