"""The reports of `tf.profiler`: by name scopes, by inputs, by ops, by Python code."""
