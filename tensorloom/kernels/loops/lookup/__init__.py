"""Lookup tables and vocabularies: loops that numba compiles."""
