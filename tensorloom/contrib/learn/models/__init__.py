"""`tf.contrib.learn.models`: small models as functions of features and labels."""
