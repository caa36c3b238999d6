"""Which server has which shard: equal bytes, and few of them moved."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

# Loads that differ by less than this part of their mean are equal enough.
_SLACK: Final = 0.1


def balanced(
    sizes: Mapping[int, int],
    now: Mapping[int, int],
    servers: Collection[int],
    fixed: Collection[int] = (),
) -> dict[int, int]:
    """The server of each shard.

    Shards without a server go to the least loaded ones, large ones first. Then shards
    leave the fullest server for the emptiest one as long as that brings them closer.

    Args:
      sizes: bytes of each shard.
      now: the servers that have shards now; others than `servers` are left.
      servers: who may have shards; at least one.
      fixed: shards that stay where they are, if that server is among `servers`.
    """
    sizes = {shard: max(size, 1) for shard, size in sizes.items()}
    placed = {shard: now[shard] for shard in sizes if now.get(shard) in servers}
    loads = dict.fromkeys(sorted(servers), 0)
    for shard, server in placed.items():
        loads[server] += sizes[shard]
    for shard in sorted(sizes.keys() - placed.keys(), key=lambda s: (-sizes[s], s)):
        server = min(loads, key=loads.__getitem__)
        placed[shard] = server
        loads[server] += sizes[shard]
    slack = _SLACK * sum(loads.values()) / len(loads)
    while True:
        full = max(loads, key=loads.__getitem__)
        empty = min(loads, key=loads.__getitem__)
        gap = loads[full] - loads[empty]
        movable = [
            shard
            for shard, server in placed.items()
            if server == full and shard not in fixed and sizes[shard] < gap
        ]
        if gap <= slack or not movable:
            return placed
        # The sum of the loads' squares falls with each move: this ends.
        shard = min(movable, key=lambda s: (abs(gap - 2 * sizes[s]), s))
        placed[shard] = empty
        loads[full] -= sizes[shard]
        loads[empty] += sizes[shard]
