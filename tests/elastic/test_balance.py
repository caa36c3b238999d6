"""Which server has which shard."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorloom.elastic.balance import balanced


@pytest.mark.parametrize(
    ("sizes", "now", "servers", "fixed", "expected"),
    [
        ([5, 4, 3], {}, [0], [], [0, 0, 0]),
        ([5, 4, 3, 3], {}, [0, 1], [], [0, 1, 1, 0]),
        ([1, 1, 1, 1], [0, 0, 0, 0], [0, 1], [], [1, 1, 0, 0]),  # one joins
        ([1, 1, 1, 1], [0, 0, 0, 0], [0, 1], [0, 1], [0, 0, 1, 1]),
        ([9, 1, 1, 1], [0, 1, 1, 1], [0, 1], [], [0, 1, 1, 1]),  # no move helps
        ([4, 4, 4, 4], [0, 1, 2, 2], [0, 1], [], [0, 1, 0, 1]),  # one is gone
        ([4, 4], [0, 1], [5], [0], [5, 5]),  # all are
        ([0, 0], [0, 0], [0, 1], [], [1, 0]),  # of unknown size
    ],
)
def test_shards(
    sizes: list[int],
    now: list[int],
    servers: list[int],
    fixed: list[int],
    expected: list[int],
) -> None:
    """Equal bytes, few moves."""
    found = balanced(dict(enumerate(sizes)), dict(enumerate(now)), servers, fixed)
    assert [found[shard] for shard in range(len(sizes))] == expected


@settings(max_examples=15)
@given(
    st.lists(st.integers(0, 1000), min_size=1, max_size=30),
    st.lists(st.integers(0, 5), min_size=30, max_size=30),
    st.sets(st.integers(0, 5), min_size=1),
)
def test_any_shards(sizes: list[int], now: list[int], servers: set[int]) -> None:
    """All have a server that is there; no single move would bring loads closer."""
    known = dict(enumerate(sizes))
    found = balanced(known, dict(enumerate(now[: len(sizes)])), servers)
    assert found.keys() == known.keys()
    assert set(found.values()) <= servers
    loads = Counter(dict.fromkeys(servers, 0))
    for shard, server in found.items():
        loads[server] += max(1, known[shard])
    gap = max(loads.values()) - min(loads.values())
    full = {s for s, load in loads.items() if load == max(loads.values())}
    least = min(max(1, known[k]) for k, s in found.items() if s in full)
    assert gap <= max(least, 0.1 * sum(loads.values()) / len(servers))
    # Nothing moves again.
    assert balanced(known, found, servers) == found
