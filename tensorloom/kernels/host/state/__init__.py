"""Variables, stacks and tensors that outlive a step: kernels over NumPy values in host memory."""
