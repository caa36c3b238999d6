"""`tf.contrib.training.HParams`: values keep their types; text, JSON and messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tensorloom.contrib.training import HParams, parse_values


def _made() -> Any:
    return HParams(a=1, b=2.5, c="x", d=[1, 2], e=True, f=["p", "q"], g=None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=3", {"a": 3}),
        ("b=3,c=q", {"b": 3.0, "c": "q"}),
        ("c=a=b", {"c": "a=b"}),
        ("d=[3, 4]", {"d": [3, 4]}),
        ("d=[]", {"d": []}),
        ("e=false", {"e": False}),
        ("e=2", {"e": True}),
        ("f=[x,y]", {"f": ["x", "y"]}),
        ("b=1e-3", {"b": 0.001}),
    ],
)
def test_text(text: str, expected: dict[str, Any]) -> None:
    assert _made().parse(text).values() == {**_made().values(), **expected}


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "float": (
        lambda: _made().parse("a=3.0"),
        ValueError,
        "Could not parse hparam 'a' of type 'int' with value '3.0' in a=3.0",
    ),
    "bool": (lambda: _made().parse("e=no"), ValueError, "of type 'bool'"),
    "index": (lambda: _made().parse("d[1]=7"), ValueError, "Must pass a list"),
    "list": (lambda: _made().parse("a=[1]"), ValueError, "Must not pass a list"),
    "unknown": (
        lambda: _made().parse("z=1"),
        ValueError,
        "Unknown hyperparameter type",
    ),
    "twice": (lambda: _made().parse("a=1,a=2"), ValueError, "Multiple assignments"),
    "element": (
        lambda: _made().parse("d[0]=1,d[0]=2"),
        ValueError,
        r"Multiple assignments to variable 'd\[0\]'",
    ),
    "open": (lambda: _made().parse("d=[1,2"), ValueError, "Malformed"),
    "cast": (
        lambda: _made().set_hparam("a", 8.0),
        ValueError,
        "Could not cast hparam 'a' of type '<class 'int'>' from value 8.0",
    ),
    "truth": (lambda: _made().set_hparam("a", True), ValueError, "from value True"),
    "missing": (lambda: _made().set_hparam("z", 1), KeyError, "z"),
    "again": (lambda: _made().add_hparam("a", 1), ValueError, "name is reserved: a"),
    "method": (lambda: HParams(values=2), ValueError, "name is reserved: values"),
    "empty": (lambda: HParams(n=[]), ValueError, "cannot be empty: n"),
    "default": (
        lambda: _made().get("d", [1.5]),
        ValueError,
        "Hparam 'd' of type 'list<<class 'int'>>' is incompatible",
    ),
    "proto": (lambda: _made().to_proto(), ValueError, "Unsupported parameter type"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    call, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        call()


def test_attributes() -> None:
    params = _made()
    params.a = 10
    params.set_hparam("b", 3)
    params.del_hparam("g")
    assert (params.a, params.get("b"), params.get("z", 4)) == (10, 3.0, 4)
    assert "a" in params
    assert "g" not in params
    assert str(params) == "a=10,b=3.0,c=x,d=[1, 2],e=True,f=['p', 'q']"
    assert repr(HParams(b=1, a=[2])) == "HParams([('a', [2]), ('b', 1)])"


def test_json_and_messages() -> None:
    params = _made()
    params.del_hparam("g")
    again = HParams.from_proto(params.to_proto())
    assert again.values() == params.values()
    assert _made().parse_json('{"a": 7, "f": ["r"]}').f == ["r"]
    assert HParams(a=1, b=[True]).to_json(sort_keys=True) == '{"a": 1, "b": [true]}'


def test_elements_by_index() -> None:
    types = {"a": int, "b": float, "c": str}
    assert parse_values("a=1,b=[2,3],c[4]=x", types) == {
        "a": 1,
        "b": [2.0, 3.0],
        "c": {4: "x"},
    }
    assert parse_values("q=1,a=2", types, ignore_unknown=True) == {"a": 2}


@pytest.mark.parametrize("definition", [1, 2.0, "text"])
def test_only_a_message_defines(definition: Any) -> None:
    with pytest.raises(AssertionError, match="no HParamDef"):
        HParams(hparam_def=definition)
