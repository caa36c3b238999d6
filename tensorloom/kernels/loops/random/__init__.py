"""Random numbers.

Loops that numba compiles.
"""
