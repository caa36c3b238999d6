"""Elements and rows of tensors picked, placed and sorted out by index or condition.

Signatures, shape functions, gradients, builders.
"""
