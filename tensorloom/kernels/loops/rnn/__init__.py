"""Recurrent cells as single operations, and beam search.

Loops that numba compiles.
"""
