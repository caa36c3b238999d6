"""Random numbers.

Kernels over NumPy values in host memory.
"""
