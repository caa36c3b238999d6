"""What programs import of the inside of TensorFlow, and what is nothing of graphs.

Decorators, deprecation notices, signatures, containers: programs of its years took them
from `tensorflow.python.util` and its neighbours.
"""
