"""Datasets, iterators and optionals: kernels over NumPy values in host memory."""
