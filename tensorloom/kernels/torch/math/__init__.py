"""Arithmetic, comparison, reductions, segments and special functions.

Kernels over torch tensors.
"""
