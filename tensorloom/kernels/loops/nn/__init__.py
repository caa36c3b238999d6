"""Activations, normalization, losses, embeddings and sampling for neural networks.

Loops that numba compiles.
"""
