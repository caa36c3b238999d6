"""`tf.contrib.slim.nets`: known networks of images, built of slim's layers."""
