"""Recurrent cells as single operations, and beam search.

Kernels over NumPy values in host memory.
"""
