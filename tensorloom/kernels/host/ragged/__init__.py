"""Ragged tensors.

Kernels over NumPy values in host memory.
"""
