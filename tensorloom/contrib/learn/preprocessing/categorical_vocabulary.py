"""Categories with their numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from typing import Any

from tensorloom.framework.export import export


@export("contrib.learn.preprocessing.CategoricalVocabulary")
class CategoricalVocabulary:
    """Numbers categories as they come: 1, 2, ...; 0 is the unknown one.

    Args:
      unknown_token: stands for categories that are not in it.
      support_reverse: whether numbers can be turned back into categories.
    """

    def __init__(
        self, unknown_token: str = "<UNK>", support_reverse: bool = True
    ) -> None:
        self._unknown_token = unknown_token
        self._support_reverse = support_reverse
        self._freeze = False
        self._freq: dict[Any, int] = defaultdict(int)
        self._begin()

    def _begin(self) -> None:
        self._mapping: dict[Any, int] = {self._unknown_token: 0}
        self._reverse_mapping: list[Any] = [self._unknown_token]

    def __len__(self) -> int:
        """How many categories there are, with the unknown one."""
        return len(self._mapping)

    def freeze(self, freeze: bool = True) -> None:
        """Whether categories that come from now on are unknown."""
        self._freeze = freeze

    def get(self, category: Hashable) -> int:
        """The number of a category; a new one gets a number unless frozen."""
        if category not in self._mapping:
            if self._freeze:
                return 0
            self._number(category)
        return self._mapping[category]

    def _number(self, category: Hashable) -> None:
        self._mapping[category] = len(self._mapping)
        if self._support_reverse:
            self._reverse_mapping.append(category)

    def add(self, category: Hashable, count: int = 1) -> None:
        """Counts a category."""
        if self.get(category) > 0:
            self._freq[category] += count

    def trim(self, min_frequency: int, max_frequency: int = -1) -> None:
        """Keeps what came more often than `min_frequency`, the most frequent first.

        Args:
          min_frequency: categories that came so often, or less, go.
          max_frequency: those that came so often, or more, go too; none when negative.
        """
        # Of equal counts numbers come before texts, each in their order.
        in_order = sorted(
            self._freq.items(), key=lambda item: (isinstance(item[0], str), item[0])
        )
        in_order.sort(key=lambda item: item[1], reverse=True)
        self._begin()
        for category, count in in_order:
            if count <= min_frequency:
                break
            if not 0 < max_frequency <= count:
                self._number(category)
        kept = in_order[: len(self._mapping) - 1]
        self._freq = defaultdict(int, kept)

    def reverse(self, class_id: int) -> Any:
        """The category of a number.

        Raises:
          ValueError: the vocabulary was made without `support_reverse`.
        """
        if not self._support_reverse:
            raise ValueError(
                "This vocabulary wasn't initialized with support_reverse to support "
                "reverse() function."
            )
        return self._reverse_mapping[class_id]
