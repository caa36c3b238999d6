"""The names of files, of which each worker of a cluster takes the next."""

from __future__ import annotations

import random
from typing import Any

from tensorloom.client.variables.variable_scope import get_variable, variable_scope
from tensorloom.framework.graph.graph import colocate_with, control_dependencies
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.constant import constant
from tensorloom.ops.indexing.gather import gather
from tensorloom.ops.math.binary import mod


def seek_next(
    string_list: list[str],
    shuffle: bool = False,
    seed: int | None = None,
    num_epochs: int | None = None,
) -> Any:
    """The next name, counted by a variable that all workers share.

    Args:
      string_list: the names. They are brought into random order in place.
      shuffle: whether each epoch has an order of its own.
      seed: of these.
      num_epochs: how often each name comes; without end when None.

    Returns:
      A string scalar. It raises OutOfRangeError after the last epoch.
    """
    names = _epochs(string_list, shuffle, seed, num_epochs or 1)
    with variable_scope("obtain_next"):
        counter = _variable("obtain_next_counter", constant(-1, dtypes.int64))
        with colocate_with(counter):
            known = _variable("obtain_next_expanded_list", constant(names))
        ready: list[Any] = []
        if num_epochs:
            taken = _variable("obtain_next_filename_counter", constant(0, dtypes.int64))
            ready.append(taken.count_up_to(len(names)))
        with control_dependencies(ready):
            index = mod(counter.assign_add(1), len(names))
            return gather(known, index)


def _variable(name: str, value: Any) -> Any:
    return get_variable(name, initializer=value, trainable=False)


def _epochs(names: list[str], shuffle: bool, seed: int | None, count: int) -> list[str]:
    if shuffle and seed:
        random.seed(seed)
    found: list[str] = []
    for _ in range(count):
        if shuffle:
            random.shuffle(names)
        found += names
    return found
