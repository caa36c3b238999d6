"""Datasets, iterators and optionals: kernels over torch tensors."""
