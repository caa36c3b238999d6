"""Variables, stacks and tensors that outlive a step.

Kernels over torch tensors.
"""
