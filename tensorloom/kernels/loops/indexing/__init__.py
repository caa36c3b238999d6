"""Elements and rows of tensors picked, placed and sorted out by index or condition.

Loops that numba compiles.
"""
