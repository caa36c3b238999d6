"""Boosted trees.

Signatures, shape functions, gradients, builders.
"""
