"""Boosted trees.

Kernels over NumPy values in host memory.
"""
