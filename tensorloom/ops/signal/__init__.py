"""Fourier transforms: signatures, shape functions, gradients, builders."""
