"""Tensors made, joined, reshaped and copied.

Signatures, shape functions, gradients, builders.
"""
