"""Why a session still waits: what is found at the address of each task."""

from __future__ import annotations

import socket
from collections.abc import Mapping

from tensorloom.framework import errors

_CONNECT_S = 2.0


def tasks_are_missing(
    own_task: str,
    addresses: Mapping[str, str],
    lost: Mapping[str, errors.OpError],
    waited_s: float,
    is_filtered: bool,
) -> errors.OpError:
    """The error of a session whose tasks did not answer.

    Args:
      own_task: whose master waited.
      addresses: of all tasks, by name.
      lost: the tasks that did not answer, with their last error.
      waited_s: for how long.
      is_filtered: whether the session has device filters.
    """
    lines = [
        f"{own_task} waited {waited_s:g} s for {len(lost)} of {len(addresses)} tasks:"
    ]
    for task in sorted(lost):
        lines.append(f"  {task} at {addresses[task]}: {_found(addresses[task])}")
        lines.append(f"    last answer: {lost[task].message}")
    if not is_filtered:
        lines.append(
            "If the program does not need a task, tell the session so, for example "
            f'tf.ConfigProto(device_filters=["/job:ps", "{_short(own_task)}"]).'
        )
    return errors.UnavailableError(None, None, "\n".join(lines))


def _short(task: str) -> str:
    return task.replace("/replica:0", "")


def _found(address: str) -> str:
    """Whether the name resolves and something listens there."""
    host, _, port = address.rpartition(":")
    try:
        socket.getaddrinfo(host.strip("[]"), None)
    except OSError as error:
        return f"the host name does not resolve ({error})"
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _CONNECT_S):
            return "the port is open"
    except (OSError, ValueError) as error:
        return f"the host resolves, but the port is not open ({error})"
