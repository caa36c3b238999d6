"""Activations, normalization, losses, embeddings and sampling for neural networks: kernels over NumPy values in host memory."""
