"""Summaries: what a program reports of its training (`tf.summary`)."""
