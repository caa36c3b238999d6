"""`tf.contrib.learn.io`: examples from arrays, frames, generators and files."""
