"""Quantized numbers and what computes with them.

Kernels over torch tensors.
"""
