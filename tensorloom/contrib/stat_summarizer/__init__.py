"""`tf.contrib.stat_summarizer`: times and memory of nodes over several steps."""
