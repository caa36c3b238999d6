"""Tensors exchanged between devices and tasks.

Signatures, shape functions, gradients, builders.
"""
