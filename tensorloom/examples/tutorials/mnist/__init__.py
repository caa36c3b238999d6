"""`tensorflow.examples.tutorials.mnist`: the digits of MNIST, and a small network."""

from tensorloom.examples.tutorials.mnist import input_data, mnist

__all__ = ["input_data", "mnist"]
