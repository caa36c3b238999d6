"""TensorFlow's checkpoint files, of both versions."""
