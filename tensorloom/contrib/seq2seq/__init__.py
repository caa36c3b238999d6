"""`tf.contrib.seq2seq`: decoders, their helpers, attention, and beam search."""
