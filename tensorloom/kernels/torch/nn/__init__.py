"""Activations, normalization, losses, embeddings and sampling for neural networks.

Kernels over torch tensors.
"""
