"""Patterns of operations, and where in a graph they are."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tensorloom.framework.graph.graph import Graph, Operation, Tensor

Found = tuple[Operation, Tensor | None]


class Pattern(ABC):
    """What an operation is compared with."""

    @property
    def name(self) -> str | None:
        """The name by which a match knows it, if it has one."""
        return None

    @abstractmethod
    def match(self, op: Operation, tensor: Tensor | None) -> MatchResult | None:
        """What was found if the operation matches, else None.

        Args:
          op: the operation.
          tensor: the output of it by which it was reached; None for the first.
        """


class MatchResult:
    """The operation and the tensor that each part of a pattern has found."""

    def __init__(self) -> None:
        """Makes one that has found nothing."""
        self._found: dict[Pattern, Found] = {}
        self._named: dict[str, Pattern] = {}

    def add(self, pattern: Pattern, op: Operation, tensor: Tensor | None) -> None:
        """Notes what a pattern has found.

        Raises:
          ValueError: another pattern has its name.
        """
        self._found[pattern] = op, tensor
        if pattern.name is not None:
            if pattern.name in self._named:
                raise ValueError(
                    f"Name {pattern.name} is already bound to another pattern"
                )
            self._named[pattern.name] = pattern

    def _get(self, pattern_or_name: Pattern | str) -> Found | None:
        if isinstance(pattern_or_name, str):
            pattern = self._named.get(pattern_or_name)
            return None if pattern is None else self._found.get(pattern)
        if isinstance(pattern_or_name, Pattern):
            return self._found.get(pattern_or_name)
        raise ValueError(
            f"pattern_or_name has type {type(pattern_or_name)}. Expect Pattern or str."
        )

    def get_op(self, pattern_or_name: Pattern | str) -> Any:
        """The operation that a pattern has found, or None.

        Raises:
          ValueError: the argument is neither a pattern nor a name.
        """
        found = self._get(pattern_or_name)
        return None if found is None else found[0]

    def get_tensor(self, pattern_or_name: Pattern | str) -> Any:
        """The output of it that the operation above reads, or None.

        Raises:
          ValueError: the argument is neither a pattern nor a name.
        """
        found = self._get(pattern_or_name)
        return None if found is None else found[1]

    def merge_from(self, other_match_result: MatchResult) -> None:
        """Takes in what another match has found."""
        self._found.update(other_match_result._found)
        self._named.update(other_match_result._named)


class OpTypePattern(Pattern):
    """An operation of some types whose inputs match patterns."""

    def __init__(
        self,
        op_type: str,
        name: str | None = None,
        inputs: Sequence[Pattern | str] | None = None,
        ordered_inputs: bool = True,
    ) -> None:
        """Makes the pattern.

        Args:
          op_type: an op type, several with `|` between them, or `*` for any.
          name: by which the match knows it.
          inputs: patterns or op types for the inputs; any inputs when None.
          ordered_inputs: whether the inputs must match in this order.

        Raises:
          ValueError: there are more than eight inputs.
        """
        inputs = inputs or []
        if len(inputs) > 8:
            raise ValueError(
                "Only < 8 inputs are allowed when ordered_inputs is False."
            )
        self._types = op_type.split("|")
        self._name = name
        self._inputs = [
            p if isinstance(p, Pattern) else OpTypePattern(p) for p in inputs
        ]
        self._ordered = ordered_inputs

    @property
    def name(self) -> str | None:
        """The name by which a match knows it, if it has one."""
        return self._name

    def match(self, op: Operation, tensor: Tensor | None) -> MatchResult | None:
        """What was found if the operation and its inputs match, else None."""
        if self._types != ["*"] and op.type not in self._types:
            return None
        result = MatchResult()
        result.add(self, op, tensor)
        if not self._inputs:
            return result
        if len(op.inputs) != len(self._inputs):
            return None
        orders: Iterable[Any] = [self._inputs]
        if not self._ordered:
            orders = itertools.permutations(self._inputs)
        # What an order has found before it failed stays found, as in TensorFlow.
        if any(_matches(order, op, result) for order in orders):
            return result
        return None


def _matches(patterns: Sequence[Pattern], op: Operation, into: MatchResult) -> bool:
    for tensor, pattern in zip(op.inputs, patterns, strict=True):
        found = pattern.match(tensor.op, tensor)
        if found is None:
            return False
        into.merge_from(found)
    return True


class OneofPattern(Pattern):
    """The first of several patterns that matches."""

    def __init__(self, sub_patterns: Sequence[Pattern]) -> None:
        """Makes the pattern."""
        self._sub_patterns = sub_patterns

    def match(self, op: Operation, tensor: Tensor | None) -> MatchResult | None:
        """What the first pattern that matches has found, else None."""
        found = (pattern.match(op, tensor) for pattern in self._sub_patterns)
        return next((result for result in found if result is not None), None)


class GraphMatcher:
    """Looks for a pattern."""

    def __init__(self, pattern: Pattern) -> None:
        """Makes one that looks for `pattern`."""
        self._pattern = pattern

    def match_op(self, op: Operation) -> MatchResult | None:
        """What was found if the operation matches, else None."""
        return self._pattern.match(op, None)

    def match_ops(self, ops: Iterable[Operation]) -> Iterator[MatchResult]:
        """What was found at each of the operations that match."""
        for op in ops:
            result = self.match_op(op)
            if result is not None:
                yield result

    def match_graph(self, graph: Graph) -> Iterator[MatchResult]:
        """What was found at each operation of a graph that matches."""
        return self.match_ops(graph.get_operations())
