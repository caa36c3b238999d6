"""Checks, debugging, logging and memory statistics.

Kernels over NumPy values in host memory.
"""
