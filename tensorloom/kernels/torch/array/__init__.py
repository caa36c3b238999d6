"""Tensors made, joined, reshaped and copied: kernels over torch tensors."""
