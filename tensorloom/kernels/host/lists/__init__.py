"""TensorArrays, tensor lists and tensor maps: kernels over NumPy values in host memory."""
