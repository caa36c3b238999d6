"""Sparse tensors, sets and counts: loops that numba compiles."""
