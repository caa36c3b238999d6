"""Converted functions mean in Python what they meant before."""

from __future__ import annotations

import linecache
from typing import Any

import pytest

import tensorloom as tf
from tests.autograph import python_functions
from tests.autograph.random_programs import ProgramWriter

to_graph = tf.autograph.to_graph

CASES: list[tuple[str, tuple[Any, ...]]] = [
    *(("t_try", (x,)) for x in (0, 1)),
    *(("t_tryret", (x,)) for x in (0, 1)),
    *(("t_with", (x,)) for x in (1, 2)),
    *(("t_del", (x,)) for x in (1, 2)),
    *(("t_walrus", (x,)) for x in (1, 3)),
    *(("t_match", (x,)) for x in (1, [1, 2], {"k": 1, "z": 2}, 5)),
    *(("t_elseloop", (x,)) for x in (3, 8)),
    *(("t_nested_ret", (x,)) for x in (6, 60)),
    *(
        (name, (3,))
        for name in (
            *("t_global", "t_nonlocal", "t_comp", "t_lambda", "t_class", "t_gen"),
            *("t_undefined", "t_unpack", "t_whiletrue", "t_recursive", "t_eval"),
            *("t_deco", "t_assert", "t_fstring", "t_closure_loop", "t_aug"),
            *("t_chain", "t_import", "t_doc"),
        )
    ),
]


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_python_values(
    name: str, arguments: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    function = getattr(python_functions, name)
    monkeypatch.setattr(python_functions, "G", 1)
    wanted = function(*arguments)
    monkeypatch.setattr(python_functions, "G", 1)
    assert to_graph(function)(*arguments) == wanted


def test_arguments_of_every_kind() -> None:
    star, plain = python_functions.t_star, python_functions.t_posonly
    given: Any = {"a": 5, "q": 1}
    assert to_graph(star)(1, 2, **given) == star(1, 2, **given)
    assert [to_graph(plain)(5, c=3), to_graph(plain)(1, c=3)] == [3, 1]
    assert to_graph(python_functions.t_doc).__doc__ == "Doc."


def _loaded(seed: int, with_returns: bool) -> Any:
    source = ProgramWriter(seed, with_returns).function()
    name = f"<random program {seed} {with_returns}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace: dict[str, Any] = {}
    exec(compile(source, name, "exec"), namespace)
    return namespace["f"]


@pytest.mark.parametrize("seed", range(8))
def test_random_programs(seed: int) -> None:
    for with_returns in (False, True):
        function = _loaded(seed, with_returns)
        converted = to_graph(function)
        for given in ((0, 1, 3), (5, 2, 4), (-3, 6, 2), (2, 2, 0)):
            assert converted(*given) == function(*given)


@pytest.mark.parametrize("seed", [3, pytest.param(11, marks=pytest.mark.slow)])
def test_random_programs_of_tensors(seed: int) -> None:
    function = _loaded(seed, with_returns=False)
    with tf.Graph().as_default(), tf.Session() as sess:
        inputs = [tf.placeholder(tf.int32, []) for _ in range(3)]
        results = list(map(tf.convert_to_tensor, to_graph(function)(*inputs)))
        for given in ((0, 1, 3), (5, 2, 4), (-3, 6, 2), (2, 2, 0)):
            found = sess.run(results, dict(zip(inputs, given, strict=True)))
            assert tuple(map(int, found)) == function(*given)


def test_lambdas_of_one_line_are_told_apart() -> None:
    one, two = lambda x: x + 1 if x else 7, lambda x: (x, [x][0])
    assert (to_graph(one)(0), to_graph(one)(2), to_graph(two)(3)) == (7, 3, (3, 3))


def test_a_function_is_compiled_once_and_keeps_its_own_variables() -> None:
    def make(step: int) -> Any:
        def add(x: Any, by: int = 2) -> Any:
            return x + step * by

        return add

    first, second = to_graph(make(1)), to_graph(make(10))
    assert first.__code__ is second.__code__
    assert (first(1), second(1), second(1, by=0)) == (3, 21, 1)
    assert first.ag_module == second.ag_module


def test_classes() -> None:
    class Model:
        scale = 2

        def scaled(self, x: Any) -> Any:
            if x > 0:
                return x * self.scale
            return x

    converted = to_graph(Model)
    assert converted.__name__ == "TfModel"
    assert converted().scaled(3) == 6
    with tf.Graph().as_default(), tf.Session() as sess:
        assert sess.run(converted().scaled(tf.constant(3))) == 6
    assert "class TfModel(object):" in tf.autograph.to_code(Model)


def test_code_is_shown_as_python() -> None:
    def f(x: Any) -> Any:
        while x > 0:
            x -= 1
        return x

    code = tf.autograph.to_code(f)
    assert code.startswith("def tf__f(x):\n")
    assert "ag__.while_stmt(loop_test, loop_body," in code
    compile(code, "f", "exec")


def test_what_is_marked_is_left_alone() -> None:
    @tf.autograph.experimental.do_not_convert
    def left(x: Any) -> Any:
        return x if x > 0 else -x

    def caller(x: Any) -> Any:
        return left(x)

    assert to_graph(caller)(-3) == 3
    with tf.Graph().as_default(), pytest.raises(TypeError, match="AutoGraph is disab"):
        to_graph(caller)(tf.constant(1))
