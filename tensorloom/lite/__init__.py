"""`tf.lite`: names only. There is no TensorFlow Lite converter or interpreter here."""
