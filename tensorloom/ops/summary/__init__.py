"""Summaries for TensorBoard: signatures, shape functions, gradients, builders."""
