"""Lookup tables and vocabularies: kernels over NumPy values in host memory."""
