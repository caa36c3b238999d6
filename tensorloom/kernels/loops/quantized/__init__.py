"""Quantized numbers and what computes with them: loops that numba compiles."""
