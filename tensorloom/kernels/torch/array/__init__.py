"""Tensors made, joined, reshaped and copied.

Kernels over torch tensors.
"""
