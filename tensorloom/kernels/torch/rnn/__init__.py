"""Recurrent cells as single operations, and beam search: kernels over torch tensors."""
