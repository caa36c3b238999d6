"""Activations, normalization, losses, embeddings and sampling for neural networks: signatures, shape functions, gradients, builders."""
