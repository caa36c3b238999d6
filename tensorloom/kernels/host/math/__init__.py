"""Arithmetic, comparison and special functions, element by element.

Kernels over NumPy values in host memory.
"""
