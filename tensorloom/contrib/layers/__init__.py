"""`tf.contrib.layers`: layers as functions, with collections and argument scopes."""
