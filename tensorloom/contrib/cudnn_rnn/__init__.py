"""`tf.contrib.cudnn_rnn`: recurrent networks of many layers in one operation."""
