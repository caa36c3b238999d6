"""`tf.contrib.remote_fused_graph`: refused; it needs a Hexagon DSP."""
