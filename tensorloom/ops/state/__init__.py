"""Variables, stacks and tensors that outlive a step.

Signatures, shape functions, gradients, builders.
"""
