"""The assertions of absl's test case, each accepting and refusing."""

from __future__ import annotations

import dataclasses
import sys
from typing import Any

import pytest

import tensorloom as tf


@dataclasses.dataclass(frozen=True)
class Point:
    x: int
    y: int


class Case(tf.test.TestCase):
    __test__ = False


CHECKER = Case()
CASES: list[tuple[str, tuple[Any, ...], tuple[Any, ...]]] = [
    ("assertEmpty", ([],), ([1],)),
    ("assertNotEmpty", ([1],), ([],)),
    ("assertLen", ([1, 2], 2), ([1], 2)),
    ("assertBetween", (1, 1, 2), (3, 1, 2)),
    ("assertContainsSubset", ([1], [1, 2]), ([3], [1, 2])),
    ("assertNoCommonElements", ([1], [2]), ([1], [1])),
    ("assertSameElements", ([1, 1, 2], [2, 1]), ([1], [2])),
    ("assertSameElements", ([], ()), ("ab", ["a", "b"])),
    ("assertSequenceStartsWith", ([1, 2], [1, 2, 3]), ([2], [1, 2])),
    ("assertContainsSubsequence", ([1, 2, 3], [1, 3]), ([1, 2, 3], [3, 1])),
    ("assertContainsExactSubsequence", ([1, 2, 3], [2, 3]), ([1, 2, 3], [1, 3])),
    ("assertContainsInOrder", (["a", "c"], "abc"), (["c", "a"], "abc")),
    ("assertSequenceAlmostEqual", ([1.0], [1.0 + 1e-9]), ([1.0], [1.1])),
    ("assertTotallyOrdered", ([1], [2, 2], [3]), ([2], [1])),
    ("assertDataclassEqual", (Point(1, 2), Point(1, 2)), (Point(1, 2), Point(1, 3))),
    ("assertSameStructure", ({"a": [1]}, {"a": [1]}), ({"a": [1]}, {"a": [2], "b": 1})),
    ("assertJsonEqual", ('{"a": 1, "b": 2}', '{"b": 2, "a": 1}'), ("[1]", "[1, 2]")),
    ("assertUrlEqual", ("http://h/p?a=1&b=2", "http://h/p?b=2&a=1"), ("/a", "/b")),
    ("assertRegexMatch", ("abc", ["x", "b"]), ("abc", ["x"])),
    ("assertStartsWith", ("abc", "a"), ("abc", "b")),
    ("assertNotStartsWith", ("abc", "b"), ("abc", "a")),
    ("assertEndsWith", ("abc", "c"), ("abc", "b")),
    ("assertNotEndsWith", ("abc", "b"), ("abc", "c")),
    ("assertItemsEqual", ([1, 2], [2, 1]), ([1], [2])),
]


@pytest.mark.parametrize(("name", "good", "bad"), CASES)
def test_accepts_and_refuses(
    name: str, good: tuple[Any, ...], bad: tuple[Any, ...]
) -> None:
    getattr(CHECKER, name)(*good)
    with pytest.raises(AssertionError):
        getattr(CHECKER, name)(*bad)


def test_exact_messages() -> None:
    with CHECKER.assertRaisesWithLiteralMatch(ValueError, "no"):
        raise ValueError("no")
    with (
        pytest.raises(AssertionError),
        CHECKER.assertRaisesWithLiteralMatch(ValueError, "no"),
    ):
        raise ValueError("yes")


def test_commands() -> None:
    CHECKER.assertCommandSucceeds([sys.executable, "-c", "print('well')"], ["well"])
    fails = [sys.executable, "-c", "raise SystemExit('ill')"]
    CHECKER.assertCommandFails(fails, [b"ill"])
    with pytest.raises(AssertionError):
        CHECKER.assertCommandSucceeds(fails)


class TestFiles(tf.test.TestCase):
    def test_files_are_of_one_test(self) -> None:
        folder = self.create_tempdir()
        assert folder.create_file(content="text").read_text() == "text"
        file = self.create_tempfile("a/b", content=b"\x00")
        assert file.read_bytes() == b"\x00"
        assert file.full_path.startswith(self.get_temp_dir())
        assert self.get_temp_dir() != tf.test.get_temp_dir()

    def test_threads_have_to_be_joined(self) -> None:
        thread = self.checkedThread(lambda: None)
        thread.start()
        with self.assertRaisesRegex(AssertionError, "was not joined"):
            thread.check_termination()
        thread.join()

    def test_ragged_values(self) -> None:
        ragged = tf.ragged.constant([[1.0, 2.0], [3.0]])
        self.assertAllEqual(ragged, [[1.0, 2.0], [3.0]])
        self.assertAllClose(self.evaluate(ragged), [[1.0, 2.0], [3.0 + 1e-9]])
        with self.assertRaises(AssertionError):
            self.assertAllEqual(ragged, [[1.0], [2.0, 3.0]])

    def test_messages(self) -> None:
        config = tf.ConfigProto(allow_soft_placement=True)
        self.assertProtoEquals("allow_soft_placement: true", config)
        for other in ("allow_soft_placement: false", tf.GraphDef()):
            with self.assertRaises(AssertionError):
                self.assertProtoEquals(other, config)

    def test_messages_of_rounded_numbers(self) -> None:
        summary = tf.Summary()
        summary.value.add(tag="loss", simple_value=0.53 + 3e-8)
        self.assertProtoEquals("value { tag: 'loss' simple_value: 0.53 }", summary)
        feature = tf.train.Feature()
        feature.float_list.value.extend([0.1, 0.25])
        features = tf.train.Features(feature={"x": feature})
        text = "feature { key: 'x' value { float_list { value: [0.1, %s] } } }"
        self.assertProtoEquals(text % 0.2500001, features)
        with self.assertRaises(AssertionError):
            self.assertProtoEquals(text % 0.26, features)
