"""Products, decompositions and solutions of matrices.

Kernels over NumPy values in host memory.
"""
