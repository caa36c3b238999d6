"""Collectives whose members are on several tasks: TensorFlow's protocol for them."""
