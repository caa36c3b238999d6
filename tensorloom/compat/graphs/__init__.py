"""What libraries for TensorFlow 1 do with graphs by its private modules.

Graphs as functions and back, taps on tensors, the kernels of an op, and the places in
the program where things were made.
"""
