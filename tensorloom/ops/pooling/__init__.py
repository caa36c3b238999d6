"""Pooling: maxima and means of sliding windows.

Signatures, shape functions, gradients, builders.
"""
