"""Models in fewer bits, without training.

layers.py         the layers of a graph that have a form in eight bits
calibration.py    the ranges of tensors, from examples or from FakeQuant nodes
eight_bits.py     layers in eight bits
short_floats.py   weights as float16 or bfloat16
pruning.py        small weights as zeros
"""
