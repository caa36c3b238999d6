"""Messages of the wire and of files: TensorFlow's fields, types and full names.

The files are `tensorloom/protos/*.proto`, and the messages live in a descriptor pool of
their own (`pool.py`), so that one process can load TensorFlow and TensorBoard too.
`tools/generate_protos.py` makes the modules.
"""
