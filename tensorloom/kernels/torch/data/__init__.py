"""Datasets, iterators and optionals.

Kernels over torch tensors.
"""
