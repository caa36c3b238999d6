"""Strings: splitting, hashing, encoding, regular expressions: loops that numba compiles."""
