"""`tf.nn`: what needs control flow or custom gradients; the rest is in `ops/`."""
