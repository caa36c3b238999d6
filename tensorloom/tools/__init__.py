"""TensorFlow's tools for graphs and checkpoints, as programs import them."""
