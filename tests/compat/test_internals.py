"""What programs take from `tensorflow.python.util`."""

from __future__ import annotations

import functools
import gc
import importlib
import inspect
import threading
from typing import Any

import pytest

from tensorloom.client.program import program_log
from tensorloom.compat.internals import (
    api_names,
    deprecation,
    docstrings,
    keras_optimizer,
    signatures,
    syntax_passes,
)
from tensorloom.compat.internals.group_lock import GroupLock
from tensorloom.compat.internals.object_identity import (
    ObjectIdentityDictionary,
    ObjectIdentitySet,
    ObjectIdentityWeakKeyDictionary,
)
from tensorloom.framework import decorators


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    texts: list[str] = []
    monkeypatch.setattr(deprecation, "_told", set())
    monkeypatch.setattr(
        program_log, "warning", lambda text, *args: texts.append(text % args)
    )
    return texts


def _plain(a: int, b: int = 2, *, c: int = 3) -> int:
    """Adds."""
    return a + b + c


def test_decorators_unwrap_and_keep_signatures() -> None:
    def outer(*args: Any, **kwargs: Any) -> Any:
        return _plain(*args, **kwargs)

    made = decorators.make_decorator(_plain, outer, "outer", "Adds, outside.")
    assert made(1) == 6
    assert (made.__name__, made.__doc__) == ("_plain", "Adds, outside.")
    found, target = decorators.unwrap(made)
    assert ([one.decorator_name for one in found], target) == (["outer"], _plain)
    assert signatures.getfullargspec(made) == inspect.getfullargspec(_plain)
    assert inspect.signature(made) == inspect.signature(_plain)


@pytest.mark.parametrize(
    ("path", "arguments", "defaults"),
    [
        ("tensorloom.cast", ["x", "dtype", "name"], (None,)),
        ("tensorloom.maximum", ["x", "y", "name"], (None,)),
        (
            "tensorloom.compat.v2.reduce_any",
            ["input_tensor", "axis", "keepdims", "name"],
            (None, False, None),
        ),
    ],
)
def test_our_functions_have_signatures_without_annotations(
    path: str, arguments: list[str], defaults: tuple[Any, ...]
) -> None:
    module, _, name = path.rpartition(".")
    found = signatures.getfullargspec(getattr(importlib.import_module(module), name))
    assert found == inspect.FullArgSpec(arguments, None, None, defaults, [], None, {})


def test_passes_over_syntax_trees_are_imported_and_refused() -> None:
    class Mine(syntax_passes.Base):
        pass

    with pytest.raises(RuntimeError, match="autograph has passes of its own"):
        Mine("context")
    with pytest.raises(RuntimeError, match=r"pyct\.templates\.replace"):
        syntax_passes.replace("a = b", a="c")
    with pytest.raises(RuntimeError, match=r"use those of tf\.train"):
        keras_optimizer.Optimizer(name="sgd")


def test_rewrap_changes_what_runs() -> None:
    def outer(*args: Any) -> Any:
        mark = decorators.unwrap(made)[0][-1]
        return mark.decorated_target(*args)

    made = decorators.make_decorator(_plain, outer)
    assert decorators.rewrap(made, _plain, lambda a: a * 10) is made
    assert made(2) == 20


def test_argspec_of_python_2() -> None:
    def simple(a: int, b: int = 1, *args: int, **kwargs: int) -> None: ...

    spec = signatures.getargspec(simple)
    assert spec == (["a", "b"], "args", "kwargs", (1,))
    partial = functools.partial(simple, b=5)
    assert signatures.getargspec(partial).defaults == (5,)
    with pytest.raises(ValueError, match="keyword-only"):
        signatures.getargspec(_plain)
    with pytest.raises(ValueError, match="positioned after"):
        signatures.getargspec(functools.partial(lambda a, b: None, a=1))
    assert signatures.getcallargs(simple, 3) == {
        "a": 3,
        "b": 1,
        "args": (),
        "kwargs": {},
    }


class _Callable:
    def __call__(self, x: int, y: int) -> None: ...

    def method(self, x: int) -> None: ...


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (_plain, ("a", "b")),
        (functools.partial(_plain, 1), ("b",)),
        (_Callable(), ("x", "y")),
        (_Callable().method, ("x",)),
    ],
)
def test_names_of_arguments(function: Any, names: tuple[str, ...]) -> None:
    assert signatures.fn_args(function) == names


def test_deprecated_is_told_once(told: list[str]) -> None:
    made = deprecation.deprecated("2030-01-01", "Use other.")(_plain)
    assert made(1) == made(1) == 6
    assert len(told) == 1
    assert "_plain (from " in told[0]
    assert "after 2030-01-01" in told[0]
    assert "Use other." in told[0]
    assert "(deprecated)" in made.__doc__
    with deprecation.silence():
        deprecation.deprecated(None, "Use other.", warn_once=False)(_plain)(1)
    assert len(told) == 1


@pytest.mark.parametrize(
    ("make", "calls", "number"),
    [
        (lambda: deprecation.deprecated_args(None, "x", "b"), [((1,), {})], 0),
        (lambda: deprecation.deprecated_args(None, "x", "b"), [((1, 2), {})], 1),
        (lambda: deprecation.deprecated_args(None, "x", ("b", 2)), [((1, 2), {})], 0),
        (lambda: deprecation.deprecated_arg_values(None, "x", b=4), [((1, 4), {})], 1),
        (lambda: deprecation.deprecated_arg_values(None, "x", b=4), [((1, 5), {})], 0),
    ],
)
def test_deprecated_arguments(
    told: list[str], make: Any, calls: list[Any], number: int
) -> None:
    made = make()(_plain)
    for args, kwargs in calls:
        made(*args, **kwargs)
    assert len(told) == number


def test_notices_need_instructions() -> None:
    with pytest.raises(ValueError, match="YYYY-MM-DD"):
        deprecation.deprecated("soon", "x")
    with pytest.raises(ValueError, match="conversion instructions"):
        deprecation.deprecated(None, "")
    with pytest.raises(ValueError, match="not present in the function signature"):
        deprecation.deprecated_args(None, "x", "absent")(_plain)
    assert deprecation.deprecated_argument_lookup("new", None, "old", 3) == 3
    with pytest.raises(ValueError, match="both 'old' and 'new'"):
        deprecation.deprecated_argument_lookup("new", 1, "old", 3)


def test_exported_names() -> None:
    def mine() -> None: ...

    api_names.tf_export("mine.new", v1=["mine.old"])(mine)
    assert api_names.get_v1_names(mine) == ["mine.old"]
    assert api_names.get_canonical_name_for_symbol(mine) == "mine.new"
    with pytest.raises(api_names.SymbolAlreadyExposedError):
        api_names.tf_export("again")(mine)
    with pytest.raises(api_names.InvalidSymbolNameError):
        api_names.tf_export("keras.mine")


def test_identity_containers() -> None:
    one: list[int] = []
    other: list[int] = []
    table = ObjectIdentityDictionary()
    table[one], table[other] = 1, 2
    assert (table[one], table[other], len(table)) == (1, 2, 2)
    del table[one]
    assert one not in table
    known = ObjectIdentitySet([one])
    assert one in known
    assert other not in known

    class Key: ...

    weak = ObjectIdentityWeakKeyDictionary()
    key = Key()
    weak[key] = 1
    assert weak[key] == 1
    del key
    gc.collect()
    assert len(weak) == 0


def test_group_lock_lets_one_group_in() -> None:
    lock = GroupLock(2)
    entered = threading.Event()

    def enter() -> None:
        with lock.group(1):
            entered.set()

    with lock.group(0), lock.group(0):
        thread = threading.Thread(target=enter)
        thread.start()
        assert not entered.is_set()
    thread.join(5)
    assert entered.is_set()
    with pytest.raises(ValueError, match="group_id"):
        lock.acquire(2)


def test_docstrings() -> None:
    doc = docstrings.add_notice_to_docstring(
        "First.\n\nMore.", "Do.", "None", "(x)", ["Gone."]
    )
    assert doc == "First. (x)\n\nWarning: Gone.\nDo.\n\nMore."

    class Owner:
        @docstrings.classproperty
        def name(cls) -> str:
            return cls.__name__

    assert Owner.name == "Owner"


def test_experimental_functions_warn(told: list[str]) -> None:
    @docstrings.experimental
    def double(x: int) -> int:
        """Doubles.

        Exactly.
        """
        return 2 * x

    assert double(2) == 4
    assert len(told) == 1
    assert "double (from " in told[0]
    assert "is experimental and may change or be removed" in told[0]
    assert double.__doc__ == (
        "Doubles. (experimental)\n\nWarning: THIS FUNCTION IS EXPERIMENTAL. It may "
        "change or be removed at any time, and without warning.\n\nExactly."
    )
    with pytest.raises(ValueError, match="not a function"):
        docstrings.experimental(3)  # type: ignore[arg-type]
