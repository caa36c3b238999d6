"""Wrappers of operations for other languages: what a template sees, and the matrix."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("clients/generator", "clients/conformance")


@pytest.fixture(scope="module", autouse=True)
def _paths():
    sys.path[:0] = [str(ROOT / folder) for folder in FOLDERS]
    yield
    del sys.path[: len(FOLDERS)]


@pytest.fixture(scope="module")
def ops():
    import op_model

    return {op.name: op for op in op_model.all_ops()}


@pytest.mark.parametrize(
    ("name", "inputs", "outputs", "required", "optional"),
    [
        ("MatMul", "a b", "product", "", "transpose_a transpose_b"),
        ("AddN", "inputs*", "sum", "", ""),
        ("Split", "split_dim value", "output*", "num_split", ""),
        ("Cast", "x", "y", "DstT", "Truncate"),
        ("VarHandleOp", "", "resource", "dtype shape", "container shared_name"),
        ("AssignVariableOp", "resource value", "", "", ""),
    ],
)
def test_attributes_that_follow_from_inputs_are_no_parameters(
    ops, name, inputs, outputs, required, optional
):
    op = ops[name]

    def args(found):
        return " ".join(arg.name + "*" * arg.is_list for arg in found)

    assert args(op.inputs) == inputs
    assert args(op.outputs) == outputs
    assert " ".join(attr.name for attr in op.required) == required
    assert " ".join(attr.name for attr in op.optional) == optional


@pytest.mark.parametrize(
    ("name", "inputs", "outputs"),
    [
        ("MatMul", "<T> <T>", "<T>"),
        ("Split", "int32 <T>", "<T>"),
        ("IdentityN", "?", "?"),
        ("VarHandleOp", "", "resource"),
    ],
)
def test_a_template_sees_where_a_dtype_is_from(ops, name, inputs, outputs):
    def dtypes(found):
        return " ".join(
            f"<{arg.type_attr}>" if arg.type_attr else arg.dtype or "?" for arg in found
        )

    assert dtypes(ops[name].inputs) == inputs
    assert dtypes(ops[name].outputs) == outputs


def test_private_operations_have_no_wrapper(ops):
    assert len(ops) > 1000
    assert not any(name.startswith("_") for name in ops)
    assert "Const" not in ops  # each language has its own


@pytest.mark.parametrize(
    ("name", "snake", "camel"),
    [
        ("MatMul", "mat_mul", "MatMul"),
        ("MatMulV2", "mat_mul_v2", "MatMulV2"),
        ("DstT", "dst_t", "DstT"),
        ("Conv2DBackpropInput", "conv2d_backprop_input", "Conv2DBackpropInput"),
        ("out_type", "out_type", "OutType"),
    ],
)
def test_names(name, snake, camel):
    import op_model

    assert op_model.snake(name) == snake
    assert op_model.camel(name, upper=True) == camel


@pytest.mark.parametrize("language", ["go", "javascript", "cpp"])
def test_each_operation_has_a_wrapper(language, ops, tmp_path):
    import generate

    generate.main(language, str(tmp_path / "ops"))
    text = (tmp_path / "ops").read_text()
    assert [name for name in ops if f" {name}(" not in text] == []


def test_matrix(tmp_path):
    import matrix

    table = tmp_path / "build.txt"
    table.write_text("case one\n  op NoOp n\n\ncase two only=tensorloom\n  op NoOp n\n")
    found = {"c": "ok one\nfail two: why\nok test\n", "go": "ok one\nskip two: no\n"}
    text = matrix.matrix([table], found)
    assert "| build (2) | 1 | 1 |" in text
    assert "| two | ✗ | - |" in text
    page = tmp_path / "page.md"
    page.write_text("# Title\n")
    for _ in range(2):
        matrix.write_page(page, text)
    assert page.read_text().count("| two |") == 1
    assert page.read_text().startswith("# Title\n")
