"""Random numbers.

Kernels over torch tensors.
"""
