"""Sparse tensors, sets and counts: signatures, shape functions, gradients, builders."""
