"""Products, decompositions and solutions of matrices.

Kernels over torch tensors.
"""
