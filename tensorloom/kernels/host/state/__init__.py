"""Variables, stacks and tensors that outlive a step.

Kernels over NumPy values in host memory.
"""
