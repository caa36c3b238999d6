"""Control flow: the classic primitives, functional branches and loops, calls: signatures, shape functions, gradients, builders."""
