"""The dataflow interpreter's program: the roots, frames and exits of a piece."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tensorloom.framework import errors
from tensorloom.framework.runtime.frame_id import FrameNumbering, child_of_path
from tensorloom.worker.compile.dataflow_nodes import (
    ENTER,
    EXIT,
    RECV,
    RETVAL,
    SEND,
    Item,
)


class Program:
    """The items of a piece, ready to be run by many threads."""

    def __init__(
        self, items: Sequence[Item], numbering: FrameNumbering = child_of_path
    ) -> None:
        """Prepares items.

        Args:
          items: of the piece.
          numbering: how frames are numbered in rendezvous keys.
        """
        self.items = items
        self.numbering = numbering
        self.crosses_tasks = any(i.kind in (SEND, RECV) for i in items)
        self.roots = [i for i in items if not i.input_count and not i.control_count]
        self.enters: dict[bytes, int] = {}
        for item in items:
            if item.kind == ENTER:
                self.enters[item.frame] = self.enters.get(item.frame, 0) + 1
        self.exits = _exits_by_frame(items)
        self.result_indices = sorted(
            i.node.attrs["index"] for i in items if i.kind == RETVAL
        )


def _exits_by_frame(items: Sequence[Item]) -> dict[bytes, list[Item]]:
    """The Exit nodes of each frame; a frame is found along the edges from its Enters.

    Raises:
      errors.InvalidArgumentError: a node has inputs from different frames.
    """
    paths: dict[str, tuple[bytes, ...]] = {}
    exits: dict[bytes, list[Item]] = {}
    for item in items:
        path = _path_of(item, paths)
        if item.kind == ENTER:
            path = (*path, item.frame)
        elif item.kind == EXIT:
            if not path:
                raise errors.InvalidArgumentError(
                    None, None, f"Exit node '{item.node.name}' is in no frame"
                )
            exits.setdefault(path[-1], []).append(item)
            path = path[:-1]
        paths[item.node.name] = path
    return exits


def _path_of(item: Item, paths: Mapping[str, tuple[bytes, ...]]) -> tuple[bytes, ...]:
    """The frames around a node, which are those of all its inputs."""
    found: tuple[str, tuple[bytes, ...]] | None = None
    for name in (*(n for n, _ in item.node.inputs), *item.node.control_inputs):
        path = paths.get(name)
        if path is None:
            continue  # what comes back from the iteration before
        if found is not None and found[1] != path:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"{{{{node {item.node.name}}}}} has inputs from different frames. The "
                f"input {{{{node {found[0]}}}}} is in frame '{_last(found[1])}'. The "
                f"input {{{{node {name}}}}} is in frame '{_last(path)}'.",
            )
        found = name, path
    return found[1] if found is not None else ()


def _last(path: tuple[bytes, ...]) -> str:
    return path[-1].decode(errors="replace") if path else ""
