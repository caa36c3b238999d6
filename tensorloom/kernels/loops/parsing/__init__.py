"""Examples, CSV, JSON and protocol messages parsed: loops that numba compiles."""
