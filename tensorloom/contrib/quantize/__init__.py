"""`tf.contrib.quantize`: graphs rewritten to simulate integer arithmetic."""
