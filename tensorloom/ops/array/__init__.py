"""Tensors made, joined, reshaped and copied: signatures, shape functions, gradients, builders."""
