"""`obtain_next` and `seek_next`: the next element of a list, round and round."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from tensorloom.client.variables.variable_scope import get_variable, variable_scope
from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.runtime.scopes import colocate_with, control_dependencies
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.constant import constant


@export("contrib.input_pipeline.obtain_next")
def obtain_next(string_list_tensor: Any, counter: Any) -> Any:
    """The element after the one that a counter tells, and moves the counter on.

    Args:
      string_list_tensor: strings, [n].
      counter: a reference variable, a scalar int64; -1 before the first element.

    Returns:
      A scalar string.
    """
    return apply_op("ObtainNext", list=string_list_tensor, counter=counter)


def seek_next(
    string_list: Sequence[str],
    shuffle: bool = False,
    seed: int | None = None,
    num_epochs: int | None = None,
) -> Any:
    """The next element of a list in each step.

    It keeps the list and the place in variables under "obtain_next".

    Args:
      string_list: the elements.
      shuffle: whether each round has an order of its own.
      seed: of the orders.
      num_epochs: how many rounds there are; then the step ends with OutOfRangeError. By
        default there is no end.

    Returns:
      A scalar string.
    """
    elements = expanded_list(string_list, shuffle, seed, num_epochs)
    with variable_scope("obtain_next"):
        counter = get_variable(
            name="obtain_next_counter",
            initializer=constant(-1, dtype=dtypes.int64),
            dtype=dtypes.int64,
            trainable=False,
        )
        with colocate_with(counter):
            kept = get_variable(
                name="obtain_next_expanded_list",
                initializer=constant(elements),
                dtype=dtypes.string,
                trainable=False,
            )
        if not num_epochs:
            return obtain_next(kept, counter)
        passed = get_variable(
            name="obtain_next_filename_counter",
            initializer=constant(0, dtype=dtypes.int64),
            dtype=dtypes.int64,
            trainable=False,
        )
        with control_dependencies([passed.count_up_to(len(elements))]):
            return obtain_next(kept, counter)


def expanded_list(
    string_list: Sequence[str], shuffle: bool, seed: int | None, num_epochs: int | None
) -> list[str]:
    """The elements of all rounds, or of one where there is no end."""
    if shuffle and seed:
        random.seed(seed)
    elements = list(string_list)
    expanded = []
    for _ in range(num_epochs or 1):
        if shuffle:
            random.shuffle(elements)
        expanded += elements
    return expanded
