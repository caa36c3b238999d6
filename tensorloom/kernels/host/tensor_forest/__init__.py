"""Random forests.

Kernels over NumPy values in host memory.
"""
