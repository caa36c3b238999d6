"""Variables, stacks and tensors that outlive a step: signatures, shape functions, gradients, builders."""
