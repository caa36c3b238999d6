"""Lists of numbers are read as the JSON reader reads them, or left to it."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

from tensorloom.serving.rest import number_lists

pytest.importorskip("orjson")

ROW = [0.5, -1.25, 3, 1e-3, 1e300, -0.0, 7, 8.5]


def _body(value: object, **others: object) -> bytes:
    """Long enough to be looked at."""
    return json.dumps({"inputs": value, **others}).encode() + b" " * 256


@pytest.mark.parametrize(
    "value",
    [
        ROW,
        [ROW],
        [ROW, ROW],
        [[[x] for x in ROW]],
        [[[[x]] for x in ROW], [[[x]] for x in ROW]],
        [[1]],
        [2.5],
        [[[ROW, ROW], [ROW, ROW], [ROW, ROW]]],
    ],
)
@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": "), (" ,\n", ":\t")])
def test_arrays(value: object, separators: tuple[str, str]) -> None:
    text = json.dumps(
        {"signature_name": "s", "instances": value}, separators=separators
    )
    found = number_lists.read(text.encode() + b" " * 256)
    assert found is not None
    assert found["signature_name"] == "s"
    numbers = found["instances"]
    np.testing.assert_array_equal(numbers.floats(np.float64), np.array(value))
    with np.errstate(over="ignore"):
        expected = np.array(value, np.float64).astype(np.float32)
    np.testing.assert_array_equal(numbers.floats(np.float32), expected)
    assert numbers.lists() == value


@pytest.mark.parametrize(
    "text",
    [
        *("[]", "[[]]", "[[],[]]", "[[1],[]]", "[[1],[2,3]]", "[1,[2]]", "[[1],2]"),
        *("[1,]", "[,1]", "[1,,2]", "[1 2]", "[1[2]]", "[[1]2]", "[[1][2]]", "[01]"),
        *("[1-]", "[--1]", "[1.]", "[.5]", "[+1]", "[1e]", "[e]", "[NaN]", "[true]"),
        *('["1"]', "[null]", "[{}]", "[1]]", "[[1]", "[1],[2]", "[1].[2]", "3", '"["'),
        *("[[1,2],3[,4]]", "[[1,2]3,[4]]", "[1e999]"),
        *("[" * 65 + "1" + "]" * 65, "[" * 100_000 + "]" * 100_000),
        *('[1], "instances": 0', '[1], "x": [1]', '[1], "signature_name": 3'),
    ],
)
def test_what_is_left_to_others(text: str) -> None:
    assert number_lists.read(f'{{"inputs": {text}}}'.encode() + b" " * 256) is None


@pytest.mark.parametrize(
    "body", [b"", b"[1, 2]", b'{"x": [1]}', b'{"inputs": 0, "x": [1]}', b"{[1]"]
)
def test_other_bodies(body: bytes) -> None:
    assert number_lists.read(body + b" " * 256) is None


def test_large_arrays() -> None:
    value = np.arange(90_000).reshape(300, 300).tolist()
    found = number_lists.read(_body(value))
    assert found is not None
    np.testing.assert_array_equal(found["inputs"].floats(np.float64), value)


def test_an_integer_beyond_all_floats() -> None:
    found = number_lists.read(_body([1, 2]).replace(b"2", b"2" * 400))
    assert found is None or found["inputs"].floats(np.float32) is None


def test_what_it_reads_is_json() -> None:
    """Bodies with a few characters changed: it reads none that is no JSON."""
    chosen = random.Random(1)
    texts = [json.dumps([ROW[:3], ROW[3:6]]), json.dumps([[[1], [2]], [[3], [4]]])]
    read = 0
    for _ in range(3000):
        text = list(chosen.choice(texts))
        for _ in range(chosen.randint(1, 2)):
            place = chosen.randrange(len(text))
            text[place] = chosen.choice([*"[],. -e01", "", "]["])
        body = ('{"inputs": ' + "".join(text) + "}").encode() + b" " * 256
        found = number_lists.read(body)
        if found is not None:
            read += 1
            expected = np.array(json.loads(body)["inputs"])
            np.testing.assert_array_equal(found["inputs"].floats(np.float64), expected)
    assert read > 100
