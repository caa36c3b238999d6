"""Arguments of parameterized tests: every combination of some options."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from typing import Any


def combine(**options: Any) -> list[OrderedDict[str, Any]]:
    """Every choice of one value for each option; a value that is no list is the only
    one. The last option by name varies slowest."""
    names = sorted(options)
    values = [
        options[name] if isinstance(options[name], list) else [options[name]]
        for name in names
    ]
    return [
        OrderedDict(zip(names, chosen, strict=True))
        for chosen in itertools.product(*values)
    ]


def times(*combined: list[OrderedDict[str, Any]]) -> list[OrderedDict[str, Any]]:
    """The product of several lists of combinations.

    Raises:
      ValueError: two of them have an option in common.
    """
    products = []
    for parts in itertools.product(*combined):
        merged: OrderedDict[str, Any] = OrderedDict()
        for part in parts:
            both = merged.keys() & part.keys()
            if both:
                raise ValueError(f"Keys need to not overlap: {sorted(both)}")
            merged.update(part)
        products.append(OrderedDict(sorted(merged.items())))
    return products


def generate_combinations_with_testcase_name(
    **options: Any,
) -> list[OrderedDict[str, Any]]:
    """`combine` with a name for each, as parameterized tests need."""
    named = combine(**options)
    for combination in named:
        text = "".join(
            f"_{_plain(option)}_{_plain(value)}"
            for option, value in combination.items()
        )
        combination["testcase_name"] = f"_test{text}"
    return named


def _plain(value: Any) -> str:
    return "".join(filter(str.isalnum, str(value)))
