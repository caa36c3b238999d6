"""Updates of variables by optimizers, and training algorithms as operations.

Signatures, shape functions, gradients, builders.
"""
