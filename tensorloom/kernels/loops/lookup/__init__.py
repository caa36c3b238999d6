"""Lookup tables and vocabularies.

Loops that numba compiles.
"""
