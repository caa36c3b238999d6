"""Products, decompositions and solutions of matrices.

Signatures, shape functions, gradients, builders.
"""
