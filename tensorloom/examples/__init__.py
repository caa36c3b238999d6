"""`tensorflow.examples`: what programs import of TensorFlow's own examples."""
