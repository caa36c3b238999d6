"""`tf.contrib.signal`: windows, frames and Fourier transforms over time."""
