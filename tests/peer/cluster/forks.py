"""Forks tasks and clients of one system, whose import takes longer than what they do.

Usage: python forks.py SYSTEM

Standard input is a socket. A request is a JSON list of a module beside this one and its
arguments, with two descriptors: the standard output and error of the process that runs
it; the answer is the number of the process. Or it is such a number: that process is
killed, and the answer is its status. Runs on Python 3.7 too, as the modules do.
"""

import array
import importlib
import json
import os
import signal
import socket
import sys

from running import load

LONGEST = 65536  # bytes of a request


def main():
    """Answers requests until the other side closes; in a fork, runs its module."""
    load_all(sys.argv[1])
    with socket.socket(fileno=os.dup(0)) as requests:
        forked = serve(requests)
    if forked is None:
        return
    request, descriptors = forked
    become(descriptors)
    sys.argv = request
    importlib.import_module(request[0]).main()


def load_all(system):
    """Imports the system, and what it imports when it first needs it."""
    load(system)
    if system == "tensorloom":
        importlib.import_module("grpc")
        kernels = importlib.import_module("tensorloom.framework.registry.op_kernel")
        kernels.load_host_kernels()
        kernels.load_torch_kernels()


def serve(requests):
    """None at the end; in each fork, the request and the descriptors."""
    running = set()
    while True:
        request, descriptors = receive(requests)
        if request is None:
            for process in running:
                kill(process)
            return None
        if isinstance(request, int):
            running.remove(request)
            answer = kill(request)
        else:
            answer = os.fork()
            if answer == 0:
                return request, descriptors
            running.add(answer)
        for descriptor in descriptors:
            os.close(descriptor)
        requests.sendall(b"%d\n" % answer)


def receive(requests):
    """A request and its descriptors; None at the end."""
    descriptors = array.array("i")
    space = socket.CMSG_SPACE(2 * descriptors.itemsize)
    request, ancillary, _, _ = requests.recvmsg(LONGEST, space)
    for _, _, data in ancillary:
        descriptors.frombytes(data)
    return json.loads(request) if request else None, descriptors


def kill(process):
    """Ends a fork; its status."""
    os.kill(process, signal.SIGKILL)
    return os.waitpid(process, 0)[1]


def become(descriptors):
    """Takes over the standard descriptors, without an input."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    for place, source in enumerate([nothing, *descriptors]):
        os.dup2(source, place)
        os.close(source)


if __name__ == "__main__":
    main()
