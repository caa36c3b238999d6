"""Functions of TensorFlow's op modules that are no part of its public API."""
