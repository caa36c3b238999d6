"""Sound: codecs and spectrograms.

Kernels over NumPy values in host memory.
"""
