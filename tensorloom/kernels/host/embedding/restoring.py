"""What checkpoints hold of embedding tables, of whatever number of shards.

Shard i of a table is saved under the names `<table>/part_<i>-keys`, `-freqs`, `-steps`
and `-values`, of one length; `<table>/part_<i>/<slot>` are the rows of a slot;
`-counted_keys`, `-counted_freqs`, `-counted_steps` are keys that are not admitted yet,
and `-gone` keys that have gone, in increments. A key is of shard `key mod shards`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.kernels.host.embedding.table import VALUES, Contents
from tensorloom.storage.checkpoints.checkpoints import with_checkpoint


def read_contents(
    prefix: str,
    name: str,
    shard: int,
    count: int,
    slots: Sequence[str],
    slots_required: bool,
) -> tuple[Contents, Contents, Any]:
    """(rows, keys that are not admitted, keys that have gone) of one shard of `count`.

    Args:
      prefix: of the checkpoint.
      name: the table's, there.
      slots: names.
      slots_required: False leaves out slots that the checkpoint does not have.

    Raises:
      NotFoundError: the checkpoint has no such table, or not a slot of it.
      DataLossError: it is damaged.
    """
    return with_checkpoint(
        prefix,
        lambda reader: _read(
            reader, prefix, name, (shard, count), slots, slots_required
        ),
    )


def part_name(name: str, shard: int) -> str:
    """What the names of a shard's tensors begin with."""
    return f"{name}/part_{shard}"


def _read(
    reader: Any,
    prefix: str,
    name: str,
    mine: tuple[int, int],
    slots: Sequence[str],
    slots_required: bool,
) -> tuple[Contents, Contents, Any]:
    saved = 0
    while f"{part_name(name, saved)}-keys".encode() in reader:
        saved += 1
    if not saved:
        raise errors.NotFoundError(
            None,
            None,
            f"Key {part_name(name, 0)}-keys not found in checkpoint {prefix}",
        )
    shard, count = mine
    # The keys of a shard are all in the shard of that number, if there are as many.
    wanted: Iterable[int] = [shard] if saved == count else range(saved)
    parts = [
        _Part(reader, part_name(name, i), mine, slots, slots_required) for i in wanted
    ]
    return (
        _joined([part.rows for part in parts]),
        _joined([part.counted for part in parts]),
        np.concatenate([part.gone for part in parts]),
    )


class _Part:
    """The keys of one saved shard that are a shard's own."""

    def __init__(
        self,
        reader: Any,
        base: str,
        mine: tuple[int, int],
        slots: Sequence[str],
        slots_required: bool,
    ) -> None:
        def read(suffix: str) -> Any:
            return reader.read(f"{base}{suffix}".encode())

        names = {VALUES: "-values"}
        for slot in slots:
            if slots_required or f"{base}/{slot}".encode() in reader:
                names[slot] = f"/{slot}"
        keys = read("-keys")
        own = _own(keys, mine)
        self.rows = Contents(
            keys[own],
            read("-freqs")[own],
            read("-steps")[own],
            {block: read(suffix)[own] for block, suffix in names.items()},
        )
        keys = read("-counted_keys")
        own = _own(keys, mine)
        freqs, steps = read("-counted_freqs")[own], read("-counted_steps")[own]
        self.counted = Contents(keys[own], freqs, steps, {})
        is_increment = f"{base}-gone".encode() in reader
        gone = read("-gone") if is_increment else np.empty(0, np.int64)
        self.gone = gone[_own(gone, mine)]


def _own(keys: Any, mine: tuple[int, int]) -> Any:
    shard, count = mine
    return slice(None) if count == 1 else np.flatnonzero(keys % count == shard)


def _joined(parts: Sequence[Contents]) -> Contents:
    if len(parts) == 1:
        return parts[0]
    names = set(parts[0].blocks).intersection(*(part.blocks for part in parts))
    return Contents(
        np.concatenate([part.keys for part in parts]),
        np.concatenate([part.freqs for part in parts]),
        np.concatenate([part.steps for part in parts]),
        {name: np.concatenate([p.blocks[name] for p in parts]) for name in names},
    )
