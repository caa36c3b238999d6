"""Examples, CSV, JSON and protocol messages parsed.

Kernels over NumPy values in host memory.
"""
