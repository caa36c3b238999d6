"""Datasets, iterators and optionals.

Signatures, shape functions, gradients, builders.
"""
