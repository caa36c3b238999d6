"""Arithmetic, comparison, reductions, segments and special functions.

Loops that numba compiles.
"""
