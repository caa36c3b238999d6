"""Random forests.

Signatures, shape functions, gradients, builders.
"""
