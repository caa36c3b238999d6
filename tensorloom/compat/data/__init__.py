"""What TensorFlow has of pipelines under its module paths, and not as public names."""
