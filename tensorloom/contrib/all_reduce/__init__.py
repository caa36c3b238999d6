"""`tf.contrib.all_reduce`: reductions among devices, as graphs of plain operations."""
