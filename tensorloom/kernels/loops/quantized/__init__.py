"""Quantized numbers and what computes with them.

Loops that numba compiles.
"""
