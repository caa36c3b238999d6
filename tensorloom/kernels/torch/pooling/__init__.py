"""Pooling: maxima and means of sliding windows: kernels over torch tensors."""
