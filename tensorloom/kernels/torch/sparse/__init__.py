"""Sparse tensors, sets and counts: kernels over torch tensors."""
