"""Quantized numbers and what computes with them.

Signatures, shape functions, gradients, builders.
"""
