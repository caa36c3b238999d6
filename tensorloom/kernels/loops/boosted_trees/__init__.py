"""Ways through decision trees.

Loops that numba compiles.
"""
