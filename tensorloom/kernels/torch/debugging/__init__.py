"""Checks, debugging, logging and memory statistics.

Kernels over torch tensors.
"""
