"""Sparse tensors, sets and counts.

Kernels over torch tensors.
"""
