"""Activations, normalization, losses, embeddings and sampling for neural networks: loops that numba compiles."""
