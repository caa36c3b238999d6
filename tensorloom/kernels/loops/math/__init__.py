"""Arithmetic, comparison, reductions, segments and special functions: loops that numba compiles."""
