"""Reductions over axes, over segments and over lists; scans; counts and histograms.

Kernels over NumPy values in host memory.
"""
