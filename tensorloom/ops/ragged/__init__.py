"""Ragged tensors.

Signatures, shape functions, gradients, builders.
"""
