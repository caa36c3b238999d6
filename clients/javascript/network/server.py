"""A server for the tests of the network client: python server.py MODULE

MODULE is `tensorloom` or `tensorflow`, 1.15. Prints its target; ends with its input.
"""

import importlib
import os
import sys

tf = importlib.import_module(sys.argv[1])
server = tf.train.Server.create_local_server()
target = server.target
if isinstance(target, bytes):
    target = target.decode()
print(target, flush=True)
sys.stdin.read()
# A server of TensorFlow cannot be stopped.
os._exit(0)
