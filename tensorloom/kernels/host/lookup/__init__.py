"""Lookup tables and vocabularies.

Kernels over NumPy values in host memory.
"""
