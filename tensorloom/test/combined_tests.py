"""`generate`: a test method for each combination of some options.

As TensorFlow's own tests use it, with absl's parameterized test cases.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import re
import types
import unittest
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from tensorloom.compat.internals.signatures import getfullargspec

_Options = dict[str, Any]


class TestCombination:
    """What to do about certain options before a test runs with them."""

    __test__ = False

    def should_execute_combination(self, kwargs: _Options) -> tuple[bool, str | None]:
        """Whether the test runs with these options; if not, why."""
        return True, None

    def parameter_modifiers(self) -> Sequence[ParameterModifier]:
        """How options are changed before the test gets them."""
        return ()

    def context_managers(self, kwargs: _Options) -> Iterable[Any]:
        """Contexts that the test runs in."""
        return ()


class ParameterModifier:
    """Changes options before the test gets them."""

    DO_NOT_PASS_TO_THE_TEST: Final = object()

    def __init__(self, parameter_name: str | None = None) -> None:
        self._parameter_name = parameter_name

    def modified_arguments(
        self, kwargs: _Options, requested_parameters: Sequence[str]
    ) -> _Options:
        """The options that change, with their new values."""
        return {}

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        same_kind = type(self) is type(other) and isinstance(other, ParameterModifier)
        return same_kind and self._parameter_name == other._parameter_name  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(self._parameter_name or type(self))


class OptionalParameter(ParameterModifier):
    """An option that the test gets if it has a parameter for it."""

    def modified_arguments(
        self, kwargs: _Options, requested_parameters: Sequence[str]
    ) -> _Options:
        """Nothing, or that the option is left out."""
        if self._parameter_name in requested_parameters:
            return {}
        return {str(self._parameter_name): self.DO_NOT_PASS_TO_THE_TEST}


class _GraphMode(TestCombination):
    """The option `mode`: "graph" runs in a graph of its own, "eager" is skipped."""

    def should_execute_combination(self, kwargs: _Options) -> tuple[bool, str | None]:
        mode = kwargs.get("mode")
        if mode in (None, "graph"):
            return True, None
        return False, f"There is no {mode} mode here."

    def parameter_modifiers(self) -> Sequence[ParameterModifier]:
        return [OptionalParameter("mode")]

    def context_managers(self, kwargs: _Options) -> Iterable[Any]:
        from tensorloom.framework.graph.dataflow_graph import Graph

        return [Graph().as_default()] if kwargs.get("mode") == "graph" else []


class _Version(TestCombination):
    """The option `tf_api_version`: tests of version 2 are skipped."""

    def should_execute_combination(self, kwargs: _Options) -> tuple[bool, str | None]:
        if kwargs.get("tf_api_version") in (None, 1):
            return True, None
        return False, "Skipping a TF2 test when TF2 is not enabled."

    def parameter_modifiers(self) -> Sequence[ParameterModifier]:
        return [OptionalParameter("tf_api_version")]


# What is done about the options that all tests may have.
GRAPH_TESTS: Final = (_GraphMode(), _Version())


def generate(
    combinations: Sequence[_Options],
    test_combinations: Sequence[TestCombination] = GRAPH_TESTS,
) -> Callable[[Any], Any]:
    """A decorator of a test method, or of a class for all its tests.

    Args:
      combinations: what `combine` and `times` return.
      test_combinations: what to do about certain options.

    Raises (when the test runs):
      ValueError: the test's parameters are not the options.
    """
    named = []
    for combination in combinations:
        parts = enumerate(combination.items())
        text = "".join(f"_{_plain(k)}_{_plain(_name(v, i))}" for i, (k, v) in parts)
        named.append(
            OrderedDict([*combination.items(), ("testcase_name", f"_test{text}")])
        )

    def decorate(test: Any) -> Any:
        if not isinstance(test, type):
            # absl is the program's: its test case is of absl's class.
            parameterized: Any = importlib.import_module("absl.testing.parameterized")
            return parameterized.named_parameters(*named)(
                _with_options(test, test_combinations)
            )
        for name, method in dict(vars(test)).items():
            is_test = name.startswith(unittest.TestLoader.testMethodPrefix)
            if is_test and isinstance(method, types.FunctionType):
                delattr(test, name)
                for one in named:
                    options = {k: v for k, v in one.items() if k != "testcase_name"}
                    bound = functools.partialmethod(
                        _with_options(method, test_combinations), **options
                    )
                    setattr(test, name + one["testcase_name"], bound)
        return test

    return decorate


def _with_options(method: Any, specials: Sequence[TestCombination]) -> Any:
    requested = getfullargspec(method).args

    @functools.wraps(method)
    def decorated(self: Any, **options: Any) -> None:
        checks = [one.should_execute_combination(dict(options)) for one in specials]
        reasons = [f" - {why}" for runs, why in checks if not runs]
        if reasons:
            self.skipTest("\n".join(reasons))
        given = dict(options)
        modifiers = {m for one in specials for m in one.parameter_modifiers()}
        for modifier in modifiers:
            given |= modifier.modified_arguments(dict(options), requested)
        left_out = ParameterModifier.DO_NOT_PASS_TO_THE_TEST
        given = {name: value for name, value in given.items() if value is not left_out}
        if {"self", *given} != set(requested):
            raise ValueError(
                f"The test {method.__name__} has the parameters {sorted(requested)}, "
                f"and the combination gives {sorted(given)}."
            )
        with contextlib.ExitStack() as stack:
            for one in specials:
                for manager in one.context_managers(dict(options)):
                    stack.enter_context(manager)
            method(self, **given)

    del decorated.__wrapped__  # its signature is another
    return decorated


class NamedObject:
    """An object that names a test well: its `repr` is a name."""

    def __init__(self, name: str, obj: Any) -> None:
        self._name = name
        self._obj = obj

    def __getattr__(self, name: str) -> Any:
        return getattr(self._obj, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._obj(*args, **kwargs)

    def __repr__(self) -> str:
        return self._name


def _name(value: Any, index: int) -> str:
    """A value in a name; addresses in memory would make it another at each run."""
    return re.sub("0[xX][0-9a-fA-F]+", str(index), str(value))


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text))
