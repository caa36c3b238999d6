"""Ragged tensors: signatures, shape functions, gradients, builders."""
