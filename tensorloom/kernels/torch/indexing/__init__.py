"""Elements and rows of tensors picked, placed and sorted out by index or condition.

Kernels over torch tensors.
"""
