"""TensorFlow's sorted tables, and the codings inside of them."""
