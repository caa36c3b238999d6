"""Sparse tensors, sets and counts: kernels over NumPy values in host memory."""
