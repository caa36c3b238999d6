"""Arithmetic, comparison and special functions, element by element.

Kernels over torch tensors.
"""
