"""Control flow: the classic primitives, functional branches and loops, calls.

Kernels over torch tensors.
"""
