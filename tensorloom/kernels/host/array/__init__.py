"""Tensors made, joined, reshaped and copied: kernels over NumPy values in host memory."""
