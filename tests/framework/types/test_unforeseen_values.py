"""What a shape function or a kernel did not think of is an error of the caller."""

from __future__ import annotations

from typing import Any

import pytest

import tensorloom as tf
from tensorloom.framework.graph.graph_ir import Node
from tensorloom.framework.registry import op_registry
from tensorloom.framework.registry.op_registry import OpDef, register_op
from tensorloom.framework.registry.shape_inference import InferenceContext, run_shape_fn
from tensorloom.framework.types.attr_ranges import check_attrs
from tensorloom.framework.types.tensor_shape import SCALAR
from tensorloom.worker.run.node_error import to_op_error


def _context(op: str) -> InferenceContext:
    return InferenceContext(op, "node", {}, [], [], [tf.float32])


def _op(monkeypatch: pytest.MonkeyPatch, shape_fn: Any) -> OpDef:
    op_registry.registered_ops()  # those that load late are not lost afterwards
    monkeypatch.setattr(op_registry, "_REGISTRY", {})
    register_op("Odd", outputs=["y: float"], shape_fn=shape_fn)
    found = op_registry.find("Odd")
    assert found is not None
    return found


@pytest.mark.parametrize(
    "error",
    [IndexError("i"), ZeroDivisionError("z"), OverflowError("o"), KeyError("k")],
)
def test_a_failing_shape_function_names_its_node(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(c: InferenceContext) -> Any:
        raise error

    with pytest.raises(ValueError, match=r"for 'node' \(op: 'Odd'\)") as raised:
        run_shape_fn(_op(monkeypatch, fail), _context("Odd"))
    assert raised.value.__cause__ is error


def test_too_many_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    odd = _op(monkeypatch, lambda c: [SCALAR, SCALAR])
    with pytest.raises(ValueError, match="Shapes of 2 outputs where there are 1"):
        run_shape_fn(odd, _context("Odd"))


@pytest.mark.parametrize(
    ("error", "wanted"),
    [
        (TypeError("object of type 'numpy.int32' has no len()"), "InvalidArgument"),
        (TypeError("unhashable type: 'list'"), "InvalidArgument"),
        (IndexError("list index out of range"), "InvalidArgument"),
        (MemoryError(), "ResourceExhausted"),
        (KeyError("x"), "Internal"),
    ],
)
def test_exceptions_of_kernels(error: Exception, wanted: str) -> None:
    assert type(to_op_error(error)).__name__ == f"{wanted}Error"


@pytest.mark.parametrize(
    ("attrs", "refused"),
    [
        ({"axis": 2**31}, "axis has value 2147483648"),
        ({"strides": [1, -(2**31) - 1]}, "strides has value -2147483649"),
        ({"axis": 2**31 - 1, "strides": [1, 1], "seed": 2**40}, ""),
        ({"axis": None, "squeeze_dims": []}, ""),
    ],
)
def test_attrs_of_32_bits(attrs: dict[str, Any], refused: str) -> None:
    node = Node("n", "Op", (), (), "", attrs, ())
    if not refused:
        check_attrs(node)
        return
    with pytest.raises(tf.errors.InvalidArgumentError, match=refused):
        check_attrs(node)
