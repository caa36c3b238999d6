"""Sparse tensors, sets and counts.

Kernels over NumPy values in host memory.
"""
