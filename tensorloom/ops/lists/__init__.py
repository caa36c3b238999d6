"""TensorArrays, tensor lists and tensor maps: signatures, shape functions, gradients, builders."""
