"""Fourier transforms.

Kernels over torch tensors.
"""
