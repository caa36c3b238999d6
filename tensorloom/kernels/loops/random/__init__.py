"""Random numbers: loops that numba compiles."""
