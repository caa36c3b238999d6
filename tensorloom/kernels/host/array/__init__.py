"""Tensors made, joined, reshaped and copied.

Kernels over NumPy values in host memory.
"""
