"""Activations, normalization, losses, embeddings and sampling for neural networks.

Signatures, shape functions, gradients, builders.
"""
