"""Fourier transforms: kernels over NumPy values in host memory."""
