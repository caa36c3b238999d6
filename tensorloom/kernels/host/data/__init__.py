"""Datasets, iterators and optionals.

Kernels over NumPy values in host memory.
"""
