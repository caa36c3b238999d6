"""Messages over a socket, for chapters 7 and 8: JSON, and the bytes of arrays."""

import json
import math
import struct

import numpy as np

LENGTHS = struct.Struct("<II")  # of the header and of the arrays, in bytes
MOST = 1 << 28  # longer ones are refused before memory is taken for them


def write(sock, header, arrays=()):
    """Sends one message."""
    arrays = [np.asarray(array) for array in arrays]
    described = [[array.dtype.str, array.shape] for array in arrays]
    text = json.dumps([header, described]).encode()
    data = b"".join(array.tobytes() for array in arrays)
    sock.sendall(LENGTHS.pack(len(text), len(data)) + text + data)


def read(sock):
    """Receives one message: its header and arrays; None when the other side is gone.

    Raises:
      ValueError: what came is no message.
    """
    lengths = _read(sock, LENGTHS.size)
    if lengths is None:
        return None
    text_size, data_size = LENGTHS.unpack(lengths)
    if text_size > MOST or data_size > MOST:
        raise ValueError(f"a message of {text_size} and {data_size} bytes is too long")
    text, data = _read(sock, text_size) or b"", _read(sock, data_size) or b""
    header, described = json.loads(text)
    arrays, start = [], 0
    for name, shape in described:
        dtype = np.dtype(str(name))
        end = start + dtype.itemsize * math.prod(shape)
        if dtype.hasobject or not start <= end <= len(data):
            raise ValueError(f"{len(data)} bytes hold no {name} of shape {shape}")
        arrays.append(np.frombuffer(data[start:end], dtype).reshape(shape).copy())
        start = end
    return header, arrays


def _read(sock, size):
    parts = bytearray()
    while len(parts) < size:
        part = sock.recv(min(1 << 20, size - len(parts)))
        if not part:
            return None
        parts += part
    return bytes(parts)


def node_to_json(node, arrays):
    """A node as plain data; its arrays go into the list."""
    attrs = {}
    for key, value in node.attrs.items():
        if isinstance(value, np.ndarray | np.generic):
            arrays.append(value)
            value = {"array": len(arrays) - 1}
        attrs[key] = value
    return [node.name, node.op, node.inputs, attrs, node.device]


def node_from_json(data, arrays):
    """The node of `node_to_json`; it belongs to no graph."""
    from tinyloom.graph import Node

    name, op, inputs, attrs, device = data
    attrs = {
        key: arrays[value["array"]] if isinstance(value, dict) else value
        for key, value in attrs.items()
    }
    return Node(None, name, op, tuple(inputs), attrs, device)
