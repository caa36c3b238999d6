"""Elements and rows of tensors picked, placed and sorted out by index or condition: signatures, shape functions, gradients, builders."""
