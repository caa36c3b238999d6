"""Arithmetic, comparison, reductions, segments and special functions.

Signatures, shape functions, gradients, builders.
"""
