"""Activations, normalization, losses, embeddings and sampling for neural networks.

Kernels over NumPy values in host memory.
"""
