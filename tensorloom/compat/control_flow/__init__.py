"""What TensorFlow has of control flow under its module paths alone."""
