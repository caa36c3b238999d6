"""Files in TensorFlow's formats, on any file system."""
