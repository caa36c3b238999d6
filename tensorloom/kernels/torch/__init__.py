"""Kernels over torch tensors, in the families of `ops`."""
