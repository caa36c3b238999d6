"""Sparse tensors, sets and counts.

Signatures, shape functions, gradients, builders.
"""
