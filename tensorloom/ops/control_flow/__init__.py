"""Control flow: the classic primitives, functional branches and loops, calls.

Signatures, shape functions, gradients, builders.
"""
