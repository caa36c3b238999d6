"""Sound: codecs and spectrograms: kernels over NumPy values in host memory."""
