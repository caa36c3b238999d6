"""`tf.contrib.rnn`: recurrent cells, wrappers of cells, and fused recurrences."""
