"""Files, readers, and saving and restoring of checkpoints.

Signatures, shape functions, gradients, builders.
"""
