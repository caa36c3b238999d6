"""`tf.contrib.saved_model`: refused; models of Keras."""
