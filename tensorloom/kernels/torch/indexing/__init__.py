"""Elements and rows of tensors picked, placed and sorted out by index or condition: kernels over torch tensors."""
