"""A process that talks to a test over UCX: `ucx_peer.py PORT TLS send|take|die`.

It connects, meets the test, and then sends a body and waits for the answer, sends one
that it leaves in the middle, or dies when one comes.
"""

from __future__ import annotations

import os
import signal
import socket
import sys

import numpy as np

from tensorloom.transport.memory.ucx import Ucx, UcxEnd
from tensorloom.transport.wire import frames

SIZE = 20_000_000


def joined(
    connection: socket.socket, end: UcxEnd
) -> tuple[frames.FrameWriter, frames.FrameReader]:
    """A connection's writer and reader, once its ends have met."""
    writer, reader = frames.FrameWriter(connection), frames.FrameReader(connection)
    writer.write(frames.HELLO, header=end.address)
    end.join(reader.read().header)
    writer.use(end)
    reader.use(end)
    return writer, reader


def main(port: str, tls: str, what: str) -> None:
    """Plays one part."""
    with socket.create_connection(("127.0.0.1", int(port))) as connection:
        end = Ucx(tls, local=True).meet(connection)
        assert end is not None
        writer, reader = joined(connection, end)
        body = np.arange(SIZE, dtype=np.uint8)
        if what == "answer":
            frame = reader.read()
            writer.write(frames.REPLY, body=[frame.body + 1], body_size=SIZE)
            reader.read()
        elif what == "leave":
            found = end.put([body.data], SIZE)
            assert found is not None
            head = frames.head(frames.VALUES | frames.SHARED, 1, b"", len(found[0]), 0)
            connection.sendall(head + found[0])
            os.kill(os.getpid(), signal.SIGKILL)
        elif what == "silent":
            reference = np.array([SIZE], "<u8").tobytes()
            head = frames.head(frames.VALUES | frames.SHARED, 1, b"", len(reference), 0)
            connection.sendall(head + reference)
            connection.recv(1)
        else:
            connection.recv(1)
            os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(*sys.argv[1:])
