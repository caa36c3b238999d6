"""Strings: splitting, hashing, encoding, regular expressions: kernels over NumPy values in host memory."""
