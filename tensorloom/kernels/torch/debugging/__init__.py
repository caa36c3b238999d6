"""Checks, debugging, logging and memory statistics: kernels over torch tensors."""
