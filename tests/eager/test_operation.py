"""An op that is put together piece by piece: its attrs, lengths and device."""

from __future__ import annotations

import pytest

import tensorloom as tf
from tensorloom.eager import Context, EagerOperation


def test_attrs_that_inputs_tell(context: Context) -> None:
    concat = EagerOperation(context, "ConcatV2")
    concat.add_input_list([context.handle([1.0]), context.handle([2.0])])
    concat.add_input(context.handle(0))
    assert concat.attrs == {"N": 2, "T": tf.float32, "Tidx": tf.int32}
    assert concat.input_length("values") == 2
    assert concat.input_length("axis") == 1
    identity = EagerOperation(context, "IdentityN")
    identity.add_input_list([context.handle(1), context.handle("a")])
    assert identity.attrs == {"T": [tf.int32, tf.string]}
    assert identity.output_length("output") == 2


def test_what_an_input_tells_goes_before_what_was_set(context: Context) -> None:
    op = EagerOperation(context, "AddV2")
    op.set_attr("T", tf.int32)
    op.add_input(context.handle(1.0))
    op.add_input(context.handle(2.0))
    assert op.attrs["T"] is tf.float32
    assert op.run()[0].numpy() == 3


def test_elements_of_a_list_one_by_one(context: Context) -> None:
    op = EagerOperation(context, "Pack")
    for number in (1, 2):
        op.add_input(context.handle(number))
    with pytest.raises(tf.errors.InvalidArgumentError, match="'N'"):
        op.run()
    op.set_attr("N", 2)
    op.set_attr("T", tf.int32)
    assert op.run()[0].numpy().tolist() == [1, 2]


@pytest.mark.parametrize(
    ("op", "attr", "wanted"),
    [
        ("MatMul", "transpose_a", ("bool", False)),
        ("Conv2D", "strides", ("int", True)),
        ("IdentityN", "T", ("type", True)),
        ("If", "then_branch", ("func", False)),
        ("VarHandleOp", "shape", ("shape", False)),
    ],
)
def test_types_of_attrs(
    context: Context, op: str, attr: str, wanted: tuple[str, bool]
) -> None:
    assert EagerOperation(context, op).attr_type(attr) == wanted


def test_what_does_not_exist(context: Context) -> None:
    op = EagerOperation(context, "Split")
    with pytest.raises(tf.errors.InvalidArgumentError, match="'none' does not exist"):
        op.attr_type("none")
    with pytest.raises(tf.errors.InvalidArgumentError, match="Input 'none' not found"):
        op.input_length("none")
    with pytest.raises(tf.errors.InvalidArgumentError, match="attr 'T'"):
        op.output_length("output")
    op.set_attr("none", 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="attr 'none' not in"):
        op.run()
    with pytest.raises(tf.errors.NotFoundError, match="'Nothing' is neither"):
        EagerOperation(context, "Nothing")


def test_an_op_runs_as_often_as_it_is_asked(context: Context) -> None:
    op = EagerOperation(context, "Neg")
    op.add_input(context.handle(2.0))
    assert [op.run()[0].numpy() for _ in range(2)] == [-2, -2]
