"""Strings: splitting, hashing, encoding, regular expressions.

Loops that numba compiles.
"""
