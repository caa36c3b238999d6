"""Pooling: maxima and means of sliding windows.

Kernels over torch tensors.
"""
