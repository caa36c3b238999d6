"""Arithmetic, comparison, reductions, segments and special functions.

Kernels over NumPy values in host memory.
"""
