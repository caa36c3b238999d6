"""Pooling: maxima and means of sliding windows.

Kernels over NumPy values in host memory.
"""
