"""How calls and tensors cross from one task to another.

A service is a set of methods, each with a request and a response message
(`methods.py`). A server serves handlers for them, a channel calls them
(`interface.py`); `grpc_server.py` and `grpc_channel.py` do so as TensorFlow's tasks
expect it.
"""
