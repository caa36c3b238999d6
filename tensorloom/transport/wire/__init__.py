"""Calls, frames and tensors as bytes."""
