"""Quantized numbers and what computes with them: kernels over torch tensors."""
