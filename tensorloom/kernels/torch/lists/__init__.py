"""TensorArrays, tensor lists and tensor maps: kernels over torch tensors."""
