"""Fourier transforms.

Signatures, shape functions, gradients, builders.
"""
