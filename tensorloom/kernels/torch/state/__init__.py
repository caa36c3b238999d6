"""Variables, stacks and tensors that outlive a step: kernels over torch tensors."""
