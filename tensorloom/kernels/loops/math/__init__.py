"""Arithmetic, comparison and special functions, element by element.

Loops that numba compiles.
"""
