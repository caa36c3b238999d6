"""Examples, CSV, JSON and protocol messages parsed.

Loops that numba compiles.
"""
