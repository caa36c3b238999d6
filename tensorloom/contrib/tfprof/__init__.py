"""`tf.contrib.tfprof`: the earlier names of `tf.profiler`, and `ProfileContext`."""
