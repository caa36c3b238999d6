"""Methods that arrays lost, and numbers made of arrays with one element."""

from __future__ import annotations

import importlib.machinery
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tensorloom.cli.run import run_script
from tensorloom.compat.legacy import detours, finder, notices, views


@pytest.fixture(autouse=True)
def fresh_notices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices, "_told", set())


def run(source: str) -> dict[str, Any]:
    """Runs a program's source with its builtins."""
    namespace: dict[str, Any] = {"__builtins__": views.program_builtins()}
    exec(detours.compiled(source.encode(), "program.py"), namespace)
    return namespace


_ARRAY = "import numpy as np\na = np.array([[7.5]])\n"


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("int(a)", 7),
        ("float(a[0])", 7.5),
        ("complex(a)", 7.5 + 0j),
        ("int('12', 8)", 10),
        ("float()", 0.0),
        ("[int(x) for x in '12']", [1, 2]),
        ("isinstance(int(a), int)", True),
        ("np.array([1, 2], np.uint8).tostring()", b"\x01\x02"),
        ("np.float32(1).tostring()", b"\x00\x00\x80?"),
        ("np.array([[1, 5]]).ptp()", 4),
        ("np.array([[1, 5]]).ptp(axis=0).tolist()", [0, 0]),
        ("np.array([1], '<i2').newbyteorder().dtype.str", ">i2"),
        ("np.dtype('<i2').newbyteorder('>').str", ">i2"),
        ("list(map(np.ndarray.tobytes, [np.zeros(1, bool)]))", [b"\x00"]),
        ("'%d|%.2f' % (a, a[0])", "7|7.50"),
        ("'%.1f' % a", "7.5"),
        ("('%d' + ' %s') % (a, a[0])", "7 [7.5]"),
        ("'%r %s' % (a, 'b')", "array([[7.5]]) b"),
        ("'%s' % np.zeros(2)", "[0. 0.]"),
        ("'%(x)s' % {'x': a}", "[[7.5]]"),
        ("7 % a", 7.0),
    ],
)
def test_what_arrays_lost(expression: str, value: Any) -> None:
    assert run(f"{_ARRAY}found = {expression}")["found"] == value


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ("1, 9", [[0, 9], [0, 0]]),
        ("(1, 0), 9", [[0, 0], [9, 0]]),
        ("1, 0, 9", [[0, 0], [9, 0]]),
    ],
)
def test_itemset(arguments: str, value: Any) -> None:
    source = f"import numpy as np\na = np.zeros((2, 2))\na.itemset({arguments})\n"
    assert run(source)["a"].tolist() == value


@pytest.mark.parametrize(
    ("statement", "value"),
    [
        ("b[1] = a", [0, 7.5, 2]),
        ("b[1:2] = a[0]", [0, 7.5, 2]),
        ("b[2] += a[0]", [0, 1, 9.5]),
        ("b[0], c = a, 1", [7.5, 1, 2]),
        ("for b[0] in [a]: pass", [7.5, 1, 2]),
        ("i = iter([0, 2]); b[next(i)] += a", [7.5, 1, 2]),
        ("b[...] = a[0]", [7.5, 7.5, 7.5]),
        ("b[-1]: float = 4.0", [0, 1, 4]),
    ],
)
def test_items_are_set_to_arrays_of_one_element(statement: str, value: Any) -> None:
    assert run(f"{_ARRAY}b = np.arange(3.0)\n{statement}\n")["b"].tolist() == value


@pytest.mark.parametrize(
    ("target", "index"),
    [("{}", "0"), ("{}", "'x'"), ("[0, 1]", "1"), ("np.zeros(2, object)", "1")],
)
def test_other_containers_hold_the_array_itself(target: str, index: str) -> None:
    found = run(f"{_ARRAY}b = {target}\nb[{index}] = a\nfound = b[{index}] is a\n")
    assert found["found"]


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        ("import numpy as np\nint(np.zeros(2))", TypeError, "0-dimensional"),
        ("int('x')", ValueError, "invalid literal"),
        ("import numpy as np\nnp.zeros(2)[0] = np.ones(2)", ValueError, "sequence"),
        ("import numpy as np\nnp.zeros(2)[5] = 1", IndexError, "out of bounds"),
        ("import numpy as np\n'%d' % np.ones(2)", TypeError, "%d format"),
        ("class A: pass\nA().tostring()", AttributeError, "no attribute 'tostring'"),
    ],
)
def test_what_is_wrong_stays_wrong(
    source: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message) as caught:
        run(source)
    # The program's line is where it was.
    frames = traceback.extract_tb(caught.value.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == "program.py"]
    assert lines == [len(source.splitlines())]


def test_names_of_the_program_are_its_own() -> None:
    source = "import numpy as np\ndef int(x):\n    return x.shape\n"
    assert run(f"{source}found = int(np.zeros((1, 1)))")["found"] == (1, 1)


def test_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    run(f"{_ARRAY}for _ in range(2):\n    int(a), a.tostring()\n")
    assert capsys.readouterr().err.splitlines()[1:] == [
        "  int and float of an array with axes (gone since NumPy 2.4): a.item()",
        "  numpy.ndarray.tostring (gone since NumPy 2.3): tobytes",
    ]


def test_modules_of_the_program_take_detours(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text("def f(a):\n    return a.tostring()\n", encoding="utf-8")
    inner = importlib.machinery.SourceFileLoader("module", str(file))
    loader = finder._Loader(inner, views.program_builtins())
    module = ModuleType("module")
    loader.exec_module(module)
    assert module.f(np.zeros(1, np.int8)) == b"\x00"


def test_without_legacy_nothing_is_given_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "program.py"
    file.write_text("import numpy as np\nnp.zeros(1).tostring()\n", encoding="utf-8")
    code = run_script_in_place(str(file))
    assert code == 1
    assert "no attribute 'tostring'" in capsys.readouterr().err


def run_script_in_place(script: str) -> int:
    """`tensorloom run --no-legacy`, and the process as it was."""
    import sys

    path, argv, main = list(sys.path), sys.argv, sys.modules["__main__"]
    try:
        return run_script(script, [], legacy=False)
    finally:
        sys.path[:], sys.argv = path, argv
        sys.modules["__main__"] = main
