"""Control flow: the classic primitives, functional branches and loops, calls: kernels over torch tensors."""
