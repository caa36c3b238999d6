"""`tf.profiler`: what a graph costs, and where its steps spent time and memory."""
