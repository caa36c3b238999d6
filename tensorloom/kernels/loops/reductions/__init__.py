"""Reductions over axes, over segments and over lists; scans; counts and histograms.

Loops that numba compiles.
"""
