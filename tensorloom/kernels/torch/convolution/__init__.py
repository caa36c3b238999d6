"""Convolutions and other sliding windows with weights.

Kernels over torch tensors.
"""
