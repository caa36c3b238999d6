"""What the tasks of a cluster have done, and how fast they are."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tensorloom.cluster.task_state import describe_task
from tensorloom.framework import errors


def look(
    addresses: Mapping[str, str],
    restarts: Mapping[str, int],
    interval_s: float,
    timeout_s: float,
) -> list[dict[str, Any]]:
    """Asks tasks twice.

    Args:
      addresses: of the tasks, by name.
      restarts: how often each was started again, where it is known.
      interval_s: between the two times; rates are made of them.
      timeout_s: how long a task may take to answer.

    Returns:
      For each task `name`, `address`, `restarts`, and what it says of itself
      (`task_state.task_state`) with `steps_per_second` and `bytes_per_second`, or
      `error`: why it says nothing.
    """
    before = ask(addresses, timeout_s)
    threading.Event().wait(interval_s)
    after = ask(addresses, timeout_s)
    return [
        {
            "name": name,
            "address": addresses[name],
            "restarts": restarts.get(name),
            **after[name],
            **rates(before[name], after[name]),
        }
        for name in addresses
    ]


def ask(addresses: Mapping[str, str], timeout_s: float) -> dict[str, dict[str, Any]]:
    """What each task says, by name; all are asked at the same time."""

    def one(address: str) -> dict[str, Any]:
        try:
            return describe_task(address, timeout_s)
        except errors.OpError as error:
            return {"error": error.message.splitlines()[0]}

    if not addresses:
        return {}
    with ThreadPoolExecutor(len(addresses)) as pool:
        answers = pool.map(one, addresses.values())
        return dict(zip(addresses, answers, strict=True))


def rates(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, float]:
    """Of steps and bytes, between two answers of one life."""
    if "error" in new or "error" in old or not old:
        return {}
    if incarnation(old) != incarnation(new):
        return {}
    seconds = new["now"] - old["now"]
    if seconds <= 0:
        return {}
    sent = sum(new["sent_bytes"].values()) - sum(old["sent_bytes"].values())
    return {
        "steps_per_second": (new["steps"] - old["steps"]) / seconds,
        "bytes_per_second": sent / seconds,
    }


def incarnation(state: Mapping[str, Any]) -> str:
    """Of a task: another one in each life."""
    return str(state["devices"][0]["incarnation"])


def lines_of(row: dict[str, Any]) -> list[str]:
    """A task for people: where and since when, then what it has done."""
    place = f"{row['name']} at {row['address']}"
    restarts = f", {row['restarts']} restarts" if row["restarts"] else ""
    if "error" in row:
        return [f"{place}{restarts} does not answer: {row['error']}"]
    up = _duration(row["up_s"])
    life = f"up {up}, incarnation {incarnation(row)}{restarts}"
    done = [
        f"{row['steps']} steps",
        f"{_megabytes(sum(row['sent_bytes'].values()))} sent",
    ]
    if "steps_per_second" in row:
        done[0] += f", {row['steps_per_second']:.1f} a second"
        done[1] += f", {_megabytes(row['bytes_per_second'])} a second"
    if row["checkpoint"]:
        age = _duration(row["now"] - row["checkpoint_at"])
        done.append(f"last checkpoint {row['checkpoint']}, {age} ago")
    return [f"{place}: {life}", f"    {'; '.join(done)}", *_ways(row)]


def _ways(row: dict[str, Any]) -> list[str]:
    """What a task has sent, by the way that it went."""
    sending = row.get("sending_s", {})  # not of an older task
    told = [
        f"{way} {_megabytes(size)} in {sending.get(way, 0.0):.1f} s"
        for way, size in row["sent_bytes"].items()
        if size
    ]
    return [f"    sent by {', '.join(told)}"] if told else []


def _megabytes(size: float) -> str:
    return f"{size / 1e6:.1f} MB"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


class Progress:
    """Says now and then, in a thread, how fast the tasks of a job are.

    Args:
      say: takes a line.
      period_s: between two lines; 0: none are said.
    """

    def __init__(self, say: Callable[[str], None], period_s: float) -> None:
        self._say = say
        self._period_s = period_s
        self._mutex = threading.Lock()
        self._addresses: dict[str, str] = {}
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        if period_s > 0:
            self._thread.start()

    def running(self, addresses: Mapping[str, str]) -> None:
        """Tells which tasks run, and where."""
        with self._mutex:
            self._addresses = dict(addresses)

    def close(self) -> None:
        """Ends the thread."""
        self._closed.set()
        if self._thread.is_alive():
            self._thread.join()

    def _watch(self) -> None:
        last: dict[str, dict[str, Any]] = {}
        while not self._closed.wait(self._period_s):
            with self._mutex:
                addresses = dict(self._addresses)
            found = ask(addresses, min(5.0, self._period_s))
            told = [_progress(name, last.get(name, {}), found[name]) for name in found]
            if any(told):
                self._say("; ".join(filter(None, told)))
            last = found


def _progress(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """How fast a task is; nothing of one whose program has no server (yet)."""
    speed = rates(old, new)
    if not speed:
        return ""
    return (
        f"{name} {new['steps']} steps, {speed['steps_per_second']:.1f} a second, "
        f"{_megabytes(speed['bytes_per_second'])} a second sent"
    )
