"""Arithmetic, comparison and special functions, element by element.

Signatures, shape functions, gradients, builders.
"""
