"""Pooling: maxima and means of sliding windows.

Loops that numba compiles.
"""
