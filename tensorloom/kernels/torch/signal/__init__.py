"""Fourier transforms: kernels over torch tensors."""
