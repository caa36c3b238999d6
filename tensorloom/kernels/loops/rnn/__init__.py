"""Recurrent cells as single operations, and beam search: loops that numba compiles."""
