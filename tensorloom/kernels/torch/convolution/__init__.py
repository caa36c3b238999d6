"""Convolutions and other sliding windows with weights: kernels over torch tensors."""
