"""Assertions over containers, texts and commands, as `absltest.TestCase` has them.

`tf.test.TestCase` is a subclass of absl's test case in TensorFlow; its methods are
part of what tests call.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import re
import subprocess
import unittest
from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

T = TypeVar("T")


class ContainerAssertions(unittest.TestCase):
    """What absl's test case adds to that of `unittest`."""

    def enter_context(self, manager: contextlib.AbstractContextManager[T]) -> T:
        """Enters a context that is left when the test ends."""
        value = manager.__enter__()
        self.addCleanup(manager.__exit__, None, None, None)
        return value

    def assertEmpty(self, container: Any, msg: Any = None) -> None:
        """A container has no element."""
        if len(container):
            self.fail(self._formatMessage(msg, f"{container!r} has length of not 0."))

    def assertNotEmpty(self, container: Any, msg: Any = None) -> None:
        """A container has an element."""
        if not len(container):
            self.fail(self._formatMessage(msg, f"{container!r} has length of 0."))

    def assertLen(self, container: Any, expected_len: int, msg: Any = None) -> None:
        """A container has so many elements."""
        if len(container) != expected_len:
            found = f"{container!r} has length of {len(container)}, expected"
            self.fail(self._formatMessage(msg, f"{found} {expected_len}."))

    def assertBetween(self, value: Any, minv: Any, maxv: Any, msg: Any = None) -> None:
        """`minv <= value <= maxv`."""
        if not minv <= value <= maxv:
            text = f"{value!r} unexpectedly not between {minv!r} and {maxv!r}"
            self.fail(self._formatMessage(msg, text))

    def assertContainsSubset(
        self, expected_subset: Any, actual_set: Any, msg: Any = None
    ) -> None:
        """All of the first are in the second."""
        missing = set(expected_subset) - set(actual_set)
        if missing:
            text = f"Missing elements {missing}\nExpected: {expected_subset}\n"
            self.fail(self._formatMessage(msg, f"{text}Actual: {actual_set}"))

    def assertNoCommonElements(
        self, expected_seq: Any, actual_seq: Any, msg: Any = None
    ) -> None:
        """No element is in both."""
        common = set(expected_seq) & set(actual_seq)
        if common:
            self.fail(self._formatMessage(msg, f"Common elements {common}"))

    def assertSameElements(
        self, expected_seq: Any, actual_seq: Any, msg: Any = None
    ) -> None:
        """Both have the same elements, however often and in whatever order.

        Raises:
          AssertionError: they do not; or one is a text, which was meant otherwise.
        """
        if isinstance(expected_seq, str | bytes) or isinstance(actual_seq, str | bytes):
            self.fail("Passing string/bytes to assertSameElements is usually a bug.")
        expected, actual = list(expected_seq), list(actual_seq)
        missing = [x for x in expected if x not in actual]
        unexpected = [x for x in actual if x not in expected]
        if missing or unexpected:
            text = f"Expected, but missing: {missing!r}\n"
            text += f"Unexpected, but present: {unexpected!r}"
            self.fail(self._formatMessage(msg, text))

    def assertSequenceStartsWith(
        self, prefix: Any, whole: Any, msg: Any = None
    ) -> None:
        """A sequence begins with another."""
        begin = list(whole)[: len(prefix)]
        if begin != list(prefix):
            text = f"prefix: {prefix!r} not found at start of whole: {whole!r}."
            self.fail(self._formatMessage(msg, text))

    def assertContainsSubsequence(
        self, container: Any, subsequence: Any, msg: Any = None
    ) -> None:
        """The elements of the second are in the first, in that order."""
        rest = iter(container)
        for index, item in enumerate(subsequence):
            if item not in rest:
                text = f"{list(container)!r} not a subsequence of {subsequence!r}. "
                text += f"First non-matching element: {item!r} at {index}"
                self.fail(self._formatMessage(msg, text))

    def assertContainsExactSubsequence(
        self, container: Any, subsequence: Any, msg: Any = None
    ) -> None:
        """The elements of the second follow one another in the first."""
        whole, part = list(container), list(subsequence)
        starts = range(len(whole) - len(part) + 1)
        if not any(whole[i : i + len(part)] == part for i in starts):
            text = f"{subsequence!r} not found as an exact subsequence of {whole!r}."
            self.fail(self._formatMessage(msg, text))

    def assertContainsInOrder(self, strings: Any, target: str, msg: Any = None) -> None:
        """Texts occur in another one, in that order."""
        strings = (strings,) if isinstance(strings, str) else strings
        position = 0
        for index, text in enumerate(strings):
            found = target.find(text, position)
            if found < 0:
                before = strings[index - 1] if index else ""
                after = f" after {before!r}" if index else ""
                said = f"Did not find {text!r}{after} in {target!r}"
                self.fail(self._formatMessage(msg, said))
            position = found

    def assertSequenceAlmostEqual(
        self,
        expected_seq: Any,
        actual_seq: Any,
        places: int | None = None,
        msg: Any = None,
        delta: float | None = None,
    ) -> None:
        """Numbers are equal pairwise, as `assertAlmostEqual` means it."""
        self.assertLen(actual_seq, len(expected_seq), msg)
        problems = []
        for index, pair in enumerate(zip(expected_seq, actual_seq, strict=True)):
            try:
                how: Any = {"places": places, "delta": delta}
                self.assertAlmostEqual(*pair, **how)
            except self.failureException as error:
                problems.append(f"At index {index}: {error}")
        if problems:
            self.fail(self._formatMessage(msg, "\n".join(problems[:10])))

    def assertTotallyOrdered(self, *groups: Any, **kwargs: Any) -> None:
        """Elements of a group are equal, and less than those of later groups."""
        msg = kwargs.pop("msg", None)
        for first, second in itertools.combinations(range(len(groups)), 2):
            for small, big in itertools.product(groups[first], groups[second]):
                ordered = small < big and big > small and small <= big
                if not ordered or big < small or small == big:
                    text = f"{small!r} not less than {big!r}"
                    self.fail(self._formatMessage(msg, text))
        for group in groups:
            for one, other in itertools.product(group, group):
                if one != other or one < other or hash(one) != hash(other):
                    text = f"{one!r} not equal to {other!r}"
                    self.fail(self._formatMessage(msg, text))

    def assertDataclassEqual(self, first: Any, second: Any, msg: Any = None) -> None:
        """Two dataclasses are of one class and equal; the fields that differ."""
        if not dataclasses.is_dataclass(first) or not dataclasses.is_dataclass(second):
            raise self.failureException("First or second argument is not a dataclass.")
        self.assertIs(type(first), type(second), msg)
        if first == second:
            return
        names = [field.name for field in dataclasses.fields(first)]
        pairs = [(n, getattr(first, n), getattr(second, n)) for n in names]
        wrong = [f"{n}: {a!r} != {b!r}" for n, a, b in pairs if a != b]
        self.fail(self._formatMessage(msg, "\n".join(wrong) or "are not equal"))

    def assertSameStructure(
        self, a: Any, b: Any, aname: str = "a", bname: str = "b", msg: Any = None
    ) -> None:
        """Nested dicts and sequences are equal; says where they are not."""
        problems = _differences(a, b, aname, bname)
        if problems:
            self.fail(self._formatMessage(msg, "; ".join(problems[:20])))

    def assertJsonEqual(self, first: str, second: str, msg: Any = None) -> None:
        """Two JSON texts mean the same.

        Raises:
          ValueError: one is not JSON.
        """
        values = []
        for which, text in (("First", first), ("Second", second)):
            try:
                values.append(json.loads(text))
            except ValueError as error:
                raise ValueError(f"{which} argument: {error}. {msg or ''}") from error
        self.assertSameStructure(values[0], values[1], "first", "second", msg)

    def assertUrlEqual(self, a: str, b: str, msg: Any = None) -> None:
        """Two URLs mean the same: the order of parameters does not count."""
        one, other = urlsplit(a), urlsplit(b)
        for part in ("scheme", "netloc", "path", "fragment"):
            self.assertEqual(getattr(one, part), getattr(other, part), msg)
        self.assertEqual(
            sorted(parse_qs(one.query).items()),
            sorted(parse_qs(other.query).items()),
            msg,
        )

    def assertRegexMatch(
        self, actual_str: Any, regexes: Any, message: Any = None
    ) -> None:
        """One of the patterns is found in a text."""
        if isinstance(regexes, str | bytes):
            self.fail("regexes is string or bytes; use assertRegex instead.")
        if not regexes:
            self.fail("No regexes specified.")
        if not any(re.search(pattern, actual_str, re.MULTILINE) for pattern in regexes):
            text = f"Unexpected contents:\n\t{actual_str!r}\nExpected any of {regexes}"
            self.fail(self._formatMessage(message, text))

    def assertStartsWith(
        self, actual: str, expected_start: str, msg: Any = None
    ) -> None:
        """A text starts so."""
        if not actual.startswith(expected_start):
            text = f"{actual!r} does not start with {expected_start!r}"
            self.fail(self._formatMessage(msg, text))

    def assertNotStartsWith(
        self, actual: str, unexpected_start: str, msg: Any = None
    ) -> None:
        """A text does not start so."""
        if actual.startswith(unexpected_start):
            text = f"{actual!r} does start with {unexpected_start!r}"
            self.fail(self._formatMessage(msg, text))

    def assertEndsWith(self, actual: str, expected_end: str, msg: Any = None) -> None:
        """A text ends so."""
        if not actual.endswith(expected_end):
            text = f"{actual!r} does not end with {expected_end!r}"
            self.fail(self._formatMessage(msg, text))

    def assertNotEndsWith(
        self, actual: str, unexpected_end: str, msg: Any = None
    ) -> None:
        """A text does not end so."""
        if actual.endswith(unexpected_end):
            text = f"{actual!r} does end with {unexpected_end!r}"
            self.fail(self._formatMessage(msg, text))

    def assertCommandSucceeds(
        self,
        command: Any,
        regexes: Any = (b"",),
        env: Mapping[str, str] | None = None,
        close_fds: bool = True,
        msg: Any = None,
    ) -> None:
        """A command exits with 0, and one of the patterns is in what it prints."""
        status, output = _run(command, env, close_fds)
        if status:
            text = f"Running command\n{command!r} failed with error code {status} and "
            self.fail(self._formatMessage(msg, f"{text}message\n{output!r}"))
        self.assertRegexMatch(output, _as_bytes(regexes), msg)

    def assertCommandFails(
        self,
        command: Any,
        regexes: Any,
        env: Mapping[str, str] | None = None,
        close_fds: bool = True,
        msg: Any = None,
    ) -> None:
        """A command does not exit with 0, and prints what a pattern finds."""
        status, output = _run(command, env, close_fds)
        if not status:
            text = f"The following command succeeded while expected to fail:\n{command}"
            self.fail(self._formatMessage(msg, text))
        self.assertRegexMatch(output, _as_bytes(regexes), msg)

    def assertRaisesWithLiteralMatch(
        self,
        expected_exception: type[BaseException],
        expected_exception_message: str,
        callable_obj: Callable[..., Any] | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        """A call, or the block, raises an exception with exactly this message."""
        block = self._raises_exactly(expected_exception, expected_exception_message)
        if callable_obj is None:
            return block
        with block:
            callable_obj(*args, **kwargs)
        return None

    @contextlib.contextmanager
    def _raises_exactly(self, kind: type[BaseException], message: str) -> Any:
        try:
            yield
        except kind as error:
            self.assertEqual(message, str(error))
        else:
            self.fail(f"{kind.__name__} not raised")


def _run(
    command: Any, env: Mapping[str, str] | None, close_fds: bool
) -> tuple[int, bytes]:
    """The exit status of a command and all that it prints."""
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=env,
        close_fds=close_fds,
        shell=isinstance(command, str),
        check=False,
    )
    return done.returncode, done.stdout


def _as_bytes(regexes: Any) -> list[bytes]:
    return [x.encode() if isinstance(x, str) else x for x in regexes]


def _differences(a: Any, b: Any, aname: str, bname: str) -> list[str]:
    """What differs between two nested structures, one text each."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        found = [f"{aname} has [{k!r}] but {bname} does not" for k in a if k not in b]
        found += [f"{aname} lacks [{k!r}] but {bname} has it" for k in b if k not in a]
        for key in a:
            if key in b:
                names = f"{aname}[{key!r}]", f"{bname}[{key!r}]"
                found += _differences(a[key], b[key], *names)
        return found
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        found = []
        if len(a) != len(b):
            found = [f"{aname} has length {len(a)} but {bname} has length {len(b)}"]
        for index, (x, y) in enumerate(zip(a, b, strict=False)):
            found += _differences(x, y, f"{aname}[{index}]", f"{bname}[{index}]")
        return found
    if a != b:
        return [f"{aname} is {a!r} but {bname} is {b!r}"]
    return []
