"""Pooling: maxima and means of sliding windows: loops that numba compiles."""
