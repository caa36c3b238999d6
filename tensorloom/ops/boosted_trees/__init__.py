"""Boosted trees: signatures, shape functions, gradients, builders."""
