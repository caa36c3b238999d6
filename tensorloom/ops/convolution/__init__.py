"""Convolutions and other sliding windows with weights.

Signatures, shape functions, gradients, builders.
"""
