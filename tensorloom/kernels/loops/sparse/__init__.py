"""Sparse tensors, sets and counts.

Loops that numba compiles.
"""
