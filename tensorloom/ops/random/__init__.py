"""Random numbers.

Signatures, shape functions, gradients, builders.
"""
