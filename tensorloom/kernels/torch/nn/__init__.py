"""Activations, normalization, losses, embeddings and sampling for neural networks: kernels over torch tensors."""
