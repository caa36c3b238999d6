"""Messages over a socket, for chapters 7 and 8: a JSON header and arrays after it."""

import io
import json
import struct

import numpy as np

LENGTHS = struct.Struct("<II")  # of the header and of the arrays, in bytes
MOST = 1 << 28  # longer ones are refused before memory is taken for them


def write(sock, header, arrays=()):
    """Sends one message."""
    body = io.BytesIO()
    for array in arrays:
        np.save(body, np.asarray(array), allow_pickle=False)
    text = json.dumps(header).encode()
    data = body.getvalue()
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
    text, data = _read(sock, text_size), io.BytesIO(_read(sock, data_size) or b"")
    arrays = []
    while data.tell() < data_size:
        arrays.append(np.load(data, allow_pickle=False))
    return json.loads(text), arrays


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
