"""How a program is written in ONNX.

exporter.py   a program as a model, and its check with ONNX Runtime
scope.py      a graph in the making; what builders of ops see
registry.py   the table of builders, filled by the files of the families
"""
