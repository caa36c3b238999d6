"""Summaries for TensorBoard.

Kernels over NumPy values in host memory.
"""
