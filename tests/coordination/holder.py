"""A process that takes a lock, and does with it what its standard input says.

    python -m tests.coordination.holder URL LEASE_S NAME

It prints the token. Then each line is `keep VALUE`, `check` or `close`, and is answered
by `done` or the class of the error.
"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING

from tensorloom.coordination import open_coordinator
from tensorloom.framework import errors

if TYPE_CHECKING:
    from tensorloom.coordination.lock import Lock


def main() -> None:
    """Serves standard input."""
    url, lease_s, name = sys.argv[1:]
    lock = open_coordinator(url, float(lease_s)).lock(name)
    lock.acquire(note="a holder of a test")
    print(json.dumps(lock.token), flush=True)
    for line in sys.stdin:
        command, _, value = line.strip().partition(" ")
        if command == "close":
            lock.release()
            return
        print(_outcome(lock, command, value), flush=True)


def _outcome(lock: Lock, command: str, value: str) -> str:
    while True:
        try:
            lock.keep("value", value) if command == "keep" else lock.check()
        except errors.UnavailableError:
            time.sleep(0.1)  # a process that was stopped may have to connect again
        except errors.OpError as error:
            return type(error).__name__
        else:
            return "done"


if __name__ == "__main__":
    main()
