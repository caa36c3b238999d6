"""Reductions over axes, over segments and over lists; scans; counts and histograms.

Signatures, shape functions, gradients, builders.
"""
