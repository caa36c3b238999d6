"""Updates by the rules of optimizers.

Loops that numba compiles.
"""
