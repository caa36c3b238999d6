"""Strings: splitting, hashing, encoding, regular expressions.

Kernels over NumPy values in host memory.
"""
