"""Messages compared field by field, and with rounded numbers."""

from __future__ import annotations

import unittest
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.test import message_comparison


class _Case(message_comparison.ProtoAssertions, unittest.TestCase):
    pass


def _node(value: float = 1.0) -> Any:
    return tf.NodeDef(name="n", input=["a"], attr={"x": tf.AttrValue(f=value)})


@pytest.mark.parametrize(
    ("a", "b", "is_equal"),
    [
        (1, 1, True),
        ("ab", "ba", False),
        (_node(), _node(), True),
        (_node(), _node(2.0), False),
        (tf.NodeDef(input=["a", "b"]), tf.NodeDef(input=["b", "a"]), False),
        (tf.NodeDef(input=["a"]), tf.NodeDef(), False),
        (tf.AttrValue(i=0), tf.AttrValue(), False),
    ],
)
def test_fields_are_compared(a: Any, b: Any, is_equal: bool) -> None:
    assert message_comparison.messages_equal(a, b) is is_equal


def test_a_case_fails_with_what_differs() -> None:
    case = _Case()
    case.assertProtoEqual('name: "n"', tf.NodeDef(name="n"))
    with pytest.raises(AssertionError, match='"m"'):
        case.assertProtoEqual('name: "m"', tf.NodeDef(name="n"))
    close = _node(1.0), _node(1.0 + 1e-7)
    with pytest.raises(AssertionError):
        case.assertProtoEqual(*close)
    case.assertProtoEqual(*close, normalize_numbers=True)
