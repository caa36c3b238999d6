"""Ragged tensors: kernels over NumPy values in host memory."""
