"""Sound: codecs and spectrograms.

Signatures, shape functions, gradients, builders.
"""
