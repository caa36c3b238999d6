"""Fourier transforms.

Kernels over NumPy values in host memory.
"""
