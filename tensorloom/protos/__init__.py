"""Messages of the wire and of files, in TensorFlow's layout under our own names.

Field numbers and types are TensorFlow's, so bytes are interchangeable; the package is
`tensorloom` and the files are `tensorloom/protos/*.proto`, so that one process can load
TensorFlow and TensorBoard too. `tools/generate_protos.py` makes the modules.
"""
