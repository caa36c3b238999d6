"""Checks, debugging, logging and memory statistics: kernels over NumPy values in host memory."""
