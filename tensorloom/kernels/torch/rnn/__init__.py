"""Recurrent cells as single operations, and beam search.

Kernels over torch tensors.
"""
