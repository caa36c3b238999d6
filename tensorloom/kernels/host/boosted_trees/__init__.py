"""Boosted trees: kernels over NumPy values in host memory."""
