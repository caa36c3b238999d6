"""Quantized numbers and what computes with them: signatures, shape functions, gradients, builders."""
