"""Explains why a session still waits: what was found at each task's address."""

from __future__ import annotations

from collections.abc import Mapping

from tensorloom.framework import errors
from tensorloom.transport.peers.reachability import describe_addresses


def tasks_are_missing(
    own_task: str,
    addresses: Mapping[str, str],
    lost: Mapping[str, errors.OpError],
    incarnations: Mapping[str, int],
    waited_s: float,
    is_filtered: bool,
) -> errors.OpError:
    """The error of a session whose tasks did not answer.

    Args:
      own_task: whose master waited.
      addresses: of the tasks that it waited for, by name.
      lost: those that did not answer, with their last error.
      incarnations: of those that have answered, now or for an earlier session.
      waited_s: for how long.
      is_filtered: whether the session has device filters.
    """
    lines = [
        f"{own_task} waited {waited_s:g} s for {len(lost)} of {len(addresses)} tasks:"
    ]
    found = describe_addresses(addresses[task] for task in lost)
    for task in sorted(lost):
        lines.append(f"  {task} at {addresses[task]}: {found[addresses[task]]}")
        known = incarnations.get(task)
        seen = f"last incarnation {known}" if known else "never seen"
        lines.append(f"    {seen}; last answer: {lost[task].message}")
    lines += [
        f"  {task} at {addresses[task]} is there, incarnation {incarnations[task]}"
        for task in sorted(set(addresses) - set(lost))
        if task in incarnations
    ]
    if not is_filtered:
        lines.append(
            "If the program does not need a task, tell the session so, for example "
            f'tf.ConfigProto(device_filters=["/job:ps", "{_short(own_task)}"]).'
        )
    return errors.UnavailableError(None, None, "\n".join(lines))


def _short(task: str) -> str:
    return task.replace("/replica:0", "")
