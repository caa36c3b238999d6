"""Modules as a program of TensorFlow 1's years sees them."""

from __future__ import annotations

import collections
import importlib
import inspect
import pickle
import time
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tensorloom.compat.legacy import (
    imp_module,
    notices,
    replacements,
    six_module,
    six_moves,
    views,
)


@pytest.fixture(autouse=True)
def fresh_notices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices, "_told", set())
    monkeypatch.setattr(views, "_views", {})


def run(source: str) -> dict[str, Any]:
    """Runs a program with its builtins."""
    namespace: dict[str, Any] = {"__builtins__": views.program_builtins()}
    exec(compile(source, "program.py", "exec"), namespace)
    return namespace


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("np.int", int),
        ("np.object", object),
        ("np.float_", np.float64),
        ("np.zeros(1, dtype=np.float).dtype", np.dtype(float)),
        ("np.asscalar(np.array([3]))", 3),
        ("np.reshape([1, 2], newshape=(2, 1)).shape", (2, 1)),
        ("np.percentile([1, 2, 4], 50, interpolation='lower')", 2),
        ("np.quantile([1, 2, 4], 0.5)", 2),
        ("np.ndim([[1], [2, 3]])", 1),
        ("np.fromstring(b'ab', np.uint8).tolist()", [97, 98]),
        ("np.fromstring('1 2', sep=' ').tolist()", [1.0, 2.0]),
        ("np.fromstring('').tolist()", []),
        ("np.array([1, 2], copy=False).tolist()", [1, 2]),
        ("np.array([1, 2], np.int8, False).dtype", np.dtype("int8")),
        ("np.array([1, 200], dtype=np.int8).tolist()", [1, -56]),
        ("np.lib.pad([1], 1, 'constant').tolist()", [0, 1, 0]),
        ("np.hstack([i] for i in range(2)).tolist()", [0, 1]),
        ("np.vstack(map(np.array, [[1], [2]])).tolist()", [[1], [2]]),
        ("np.stack([[1], [2]], axis=1).tolist()", [[1, 2]]),
        ("np.sum(i for i in range(3))", 3),
        ("np.sum([[1, 2]], axis=1).tolist()", [3]),
        ("np.shape([[1], [2, 3]])", (2,)),
        ("np.size([[1], [2, 3]])", 2),
        ("np.sctypes['int'][0]", np.int8),
        ("np.cast['int32']([1.5]).tolist()", [1]),
        ("np.NINF", -np.inf),
        ("np.random.RandomState", np.random.RandomState),
        ("collections.Mapping", collections.abc.Mapping),
        ("collections.OrderedDict", collections.OrderedDict),
        ("inspect.getargspec(lambda a, b=1: 0).args", ["a", "b"]),
        ("inspect.formatargspec(['a', 'b'], 'c', 'd', (1,))", "(a, b=1, *c, **d)"),
        ("time.clock", time.perf_counter),
        ("fractions.gcd(4, 6)", 2),
        ("json.loads('[1]', encoding='utf8')", [1]),
        (
            "json_format.MessageToDict(Int32Value(), including_default_value_fields=1)",
            0,
        ),
        (
            "text_format.MessageToString(FloatValue(value=1 / 3), float_format='.3g')",
            "value: 0.333\n",
        ),
        (
            "text_format.MessageToString(ListValue(values=[Value(number_value=2 / 3)]),"
            " as_one_line=True, float_format='.2f', double_format='.4f')",
            "values { number_value: 0.6667 }",
        ),
        (
            "text_format.MessageToString(FloatValue(value=0.1), False, True)",
            "value: 0.1",
        ),
        ("sorted(random.sample({1, 2}, 2))", [1, 2]),
        ("list(itertools.izip([1], [2]))", [(1, 2)]),
    ],
)
def test_what_is_gone_is_there(expression: str, value: Any) -> None:
    lines = "import numpy as np, collections, inspect, time, fractions, json, random\n"
    lines += "from google.protobuf import json_format, text_format\n"
    lines += "from google.protobuf.struct_pb2 import ListValue, Value\n"
    lines += "from google.protobuf.wrappers_pb2 import FloatValue, Int32Value\n"
    lines += "import itertools\n"
    assert run(f"{lines}found = {expression}")["found"] == value


def test_nobody_else_sees_it() -> None:
    run("import numpy, time\nnumpy.int, time.clock\n")
    assert "int" not in vars(np)
    assert not hasattr(time, "clock")
    with pytest.raises(ValueError, match="inhomogeneous"):
        np.array([[1], [2, 3]])


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        ("[[1], [2, 3]]", (2,)),
        ("[[[1, 2], [3]], [[4], [5]]]", (2, 2)),
        ("[np.ones(2), np.ones(3)]", (2,)),
    ],
)
def test_ragged_arrays(value: str, shape: tuple[int, ...]) -> None:
    found = run(f"import numpy as np\na = np.array({value})\nb = np.asarray({value})")
    assert found["a"].shape == found["b"].shape == shape
    assert found["a"].dtype == object


def test_wrong_arrays_stay_wrong() -> None:
    with pytest.raises(ValueError, match="sequence"):
        run("import numpy as np\nnp.array([[1], [2, 3]], dtype=float)")
    with pytest.raises(AttributeError, match="no_such_name"):
        run("import numpy as np\nnp.no_such_name")


def test_each_thing_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    run("import numpy as np\nnp.int\nnp.int\nnp.float\n")
    run("import numpy as np\nnp.int\n")
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("tensorloom run: the program uses what newer libraries")
    assert said[1:] == [
        "  numpy.int (gone since NumPy 1.24): int",
        "  numpy.float (gone since NumPy 1.24): float",
    ]


def test_what_a_program_sets_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(np, "tl_test", 1, raising=False)
    assert run("import numpy\nnumpy.tl_test = 2\nx = numpy.tl_test")["x"] == 2
    assert np.tl_test == 2  # type: ignore[attr-defined]
    found = run("import builtins\nbuiltins.tl_test = 5\nx = tl_test")
    assert found["x"] == 5
    del importlib.import_module("builtins").__dict__["tl_test"]
    del views.program_builtins()["tl_test"]


def test_views_are_modules() -> None:
    found = run("import numpy\nimport numpy.linalg as la\nfrom numpy import mean")
    assert isinstance(found["numpy"], ModuleType)
    assert found["la"] is np.linalg
    assert found["mean"] is np.mean
    assert pickle.loads(pickle.dumps(found["numpy"])) is np


def test_every_replacement_can_be_made() -> None:
    for module, names in replacements.GONE.items():
        for name, gone in names.items():
            if not gone.instead.startswith("scipy."):
                assert gone.make() is not None, f"{module}.{name}"
    for changed in replacements.CHANGED.values():
        assert all(callable(views._changed(path)) for path in changed.values())


def test_imp(tmp_path: Any) -> None:
    (tmp_path / "old.py").write_text("VALUE = 4\n", encoding="utf-8")
    file, path, details = imp_module.find_module("old", [str(tmp_path)])
    with file:
        module = imp_module.load_module("tl_old", file, path, details)
    assert module.VALUE == 4
    assert imp_module.load_source("tl_old", path).VALUE == 4
    assert details[2] == imp_module.PY_SOURCE
    with pytest.raises(ImportError, match="absent"):
        imp_module.find_module("absent", [str(tmp_path)])


def test_six() -> None:
    class Meta(type):
        pass

    class Base(six_module.with_metaclass(Meta)):  # type: ignore[misc]
        pass

    @six_module.add_metaclass(Meta)
    class Other:
        __slots__ = ("x",)

    assert type(Base) is Meta
    assert type(Other) is Meta
    assert list(six_module.iteritems({1: 2})) == [(1, 2)]
    assert six_module.moves.xrange is range
    assert {"urllib_request", "_thread", "xmlrpc_client"} < set(six_moves.SUBMODULES)
    assert six_module.ensure_binary("a") == b"a"
    with pytest.raises(TypeError):
        six_module.ensure_text(1)
    assert inspect.isfunction(six_module.u)


def test_a_module_below_one_that_is_no_package_any_more() -> None:
    pytest.importorskip("scipy")
    found = run(
        "from scipy.sparse.linalg.eigen.arpack import eigsh\n"
        "import scipy.sparse.linalg.eigen.arpack as arpack\n"
        "from scipy.sparse.linalg.eigen import arpack as same\n"
        "import scipy.sparse.linalg\n"
        "is_known = eigsh is scipy.sparse.linalg.eigsh\n"
    )
    assert found["is_known"]
    assert found["arpack"].eigs is found["same"].eigs
