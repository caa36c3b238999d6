"""Updates of variables by optimizers, and training algorithms as operations.

Kernels over NumPy values in host memory.
"""
