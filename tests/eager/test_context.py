"""Ops run one at a time: values, state, errors, the end, threads."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.eager import Context, EagerOperation, TensorHandle
from tensorloom.framework.registry.op_policy import OpPolicy

FLOAT = {"dtype": tf.float32}


def _numpy(handles: list[TensorHandle]) -> list[Any]:
    return [handle.numpy() for handle in handles]


# (op, inputs, attrs, results)
VALUES: list[tuple[str, list[Any], dict[str, Any], list[Any]]] = [
    ("AddV2", [1.5, 2.0], {}, [3.5]),
    ("AddV2", [[1, 2], 3], {}, [[4, 5]]),
    ("MatMul", [[[1.0, 2.0]], [[3.0, 4.0]]], {"transpose_b": True}, [[[11.0]]]),
    ("Cast", [[1.7, -1.7]], {"DstT": tf.int32}, [[1, -1]]),
    ("ConcatV2", [([1, 2], [3]), 0], {}, [[1, 2, 3]]),
    ("IdentityN", [([1], [2.5])], {}, [[1], [2.5]]),
    ("Split", [0, [1, 2, 3, 4]], {"num_split": 2}, [[1, 2], [3, 4]]),
    ("Unpack", [[5, 6]], {"num": 2}, [5, 6]),
    ("StringJoin", [("a", "b")], {"separator": "-"}, [b"a-b"]),
    ("Shape", [[[1], [2]]], {"out_type": tf.int64}, [[2, 1]]),
    ("TopKV2", [[1.0, 3.0, 2.0], 2], {}, [[3.0, 2.0], [1, 2]]),
    ("Reshape", [[1, 2, 3, 4], [2, 2]], {}, [[[1, 2], [3, 4]]]),
    ("Const", [], {"dtype": tf.float32, "value": np.float32([1, 2])}, [[1.0, 2.0]]),
    ("NoOp", [], {}, []),
    ("Identity", ["text"], {}, [b"text"]),
]


@pytest.mark.parametrize(("op", "inputs", "attrs", "wanted"), VALUES)
def test_values(
    context: Context, op: str, inputs: list[Any], attrs: dict[str, Any], wanted: Any
) -> None:
    given: list[Any] = []
    for value in inputs:
        if isinstance(value, tuple):
            given.append([context.handle(item) for item in value])
        else:
            given.append(context.handle(value))
    for _ in range(2):  # made, and found again
        results = context.execute(op, given, attrs)
        assert [np.array(v).tolist() for v in _numpy(results)] == wanted


def test_one_kernel_serves_all_sizes(context: Context) -> None:
    for size in (1, 3, 200, 3):
        ones = context.handle(np.ones([size, size], np.float32))
        (product,) = context.execute("MatMul", [ones, ones])
        assert product.shape == [size, size]
        np.testing.assert_array_equal(product.numpy(), np.full([size, size], size))


def test_kernels_are_told_apart_by_their_attrs(context: Context) -> None:
    x = context.handle(np.float32([[1, 2], [3, 4]]))
    plain = context.execute("MatMul", [x, x])[0].numpy()
    other = context.execute("MatMul", [x, x], {"transpose_a": True})[0].numpy()
    again = context.execute("MatMul", [x, x], {"transpose_a": False})[0].numpy()
    np.testing.assert_array_equal(plain, again)
    np.testing.assert_array_equal(other, [[10, 14], [14, 20]])


# --- state ---------------------------------------------------------------------


def test_a_variable(context: Context) -> None:
    attrs = {"dtype": tf.float32, "shape": [2], "shared_name": "v"}
    (variable,) = context.execute("VarHandleOp", [], attrs)
    context.execute("AssignVariableOp", [variable, context.handle([1.0, 2.0])])
    (before,) = context.execute("ReadVariableOp", [variable], FLOAT)
    (again,) = context.execute("VarHandleOp", [], attrs)
    context.execute("AssignAddVariableOp", [again, context.handle([10.0, 10.0])])
    (after,) = context.execute("ReadVariableOp", [variable], FLOAT)
    np.testing.assert_array_equal(before.numpy(), [1, 2])
    np.testing.assert_array_equal(after.numpy(), [11, 12])
    context.execute("DestroyResourceOp", [variable])
    with pytest.raises(tf.errors.FailedPreconditionError, match="reading resource"):
        context.execute("ReadVariableOp", [variable], FLOAT)


def test_what_a_variable_was_assigned_stays_as_it_is(context: Context) -> None:
    value = context.handle(np.zeros([100, 100], np.float32))
    attrs = {"dtype": tf.float32, "shape": [100, 100]}
    (variable,) = context.execute("VarHandleOp", [], attrs)
    context.execute("AssignVariableOp", [variable, value])
    ones = context.handle(np.ones([100, 100], np.float32))
    reads = []
    for _ in range(3):
        context.execute("AssignAddVariableOp", [variable, ones])
        reads += context.execute("ReadVariableOp", [variable], FLOAT)
    assert [read.numpy().max() for read in reads] == [1, 2, 3]
    assert value.numpy().max() == 0


def test_variables_without_a_name(context: Context) -> None:
    name = "cd2c89b7-88b7-44c8-ad83-06c2a9158347"
    attrs = {"dtype": tf.float32, "shape": [], "shared_name": name}
    handles = [context.execute("VarHandleOp", [], attrs)[0] for _ in range(2)]
    for number, handle in enumerate(handles):
        context.execute("AssignVariableOp", [handle, context.handle(float(number))])
    found = [context.execute("ReadVariableOp", [h], FLOAT)[0].numpy() for h in handles]
    assert found == [0.0, 1.0]


def test_random_numbers_go_on(context: Context) -> None:
    attrs = {"dtype": tf.float32, "seed": 1, "seed2": 2}
    shape = context.handle([2])
    drawn = [
        context.execute("RandomUniform", [shape], attrs)[0].numpy() for _ in range(3)
    ]
    graph = tf.Graph()
    with graph.as_default(), tf.Session() as session:
        node = tf.raw_ops.RandomUniform(shape=[2], **attrs)
        wanted = [session.run(node) for _ in range(3)]
    np.testing.assert_array_equal(drawn, wanted)
    double = {**attrs, "dtype": tf.float64}
    other = context.execute("RandomUniform", [shape], double)[0].numpy()
    with graph.as_default(), tf.Session() as session:
        node = tf.raw_ops.RandomUniform(shape=[2], **double)
        np.testing.assert_array_equal(other, session.run(node))
    context.clear_kernel_cache()
    (anew,) = context.execute("RandomUniform", [shape], attrs)
    np.testing.assert_array_equal(anew.numpy(), wanted[0])


def test_a_queue_a_table_and_a_stack(context: Context) -> None:
    types = {"component_types": [tf.int32], "shared_name": "q"}
    (queue,) = context.execute("FIFOQueueV2", [], types)
    for number in (7, 8):
        context.execute("QueueEnqueueV2", [queue, [context.handle(number)]])
    taken = context.execute("QueueDequeueV2", [queue], {"component_types": [tf.int32]})
    assert taken[0].numpy() == 7
    kinds = {"key_dtype": tf.string, "value_dtype": tf.int64, "shared_name": "t"}
    (table,) = context.execute("HashTableV2", [], kinds)
    keys = context.handle(["a", "b"])
    values = context.handle([1, 2], tf.int64)
    context.execute("LookupTableImportV2", [table, keys, values])
    found = context.execute(
        "LookupTableFindV2",
        [table, context.handle(["b", "x"]), context.handle(-1, tf.int64)],
    )
    assert found[0].numpy().tolist() == [2, -1]
    (stack,) = context.execute(
        "StackV2", [context.handle(3)], {"elem_type": tf.float32}
    )
    context.execute("StackPushV2", [stack, context.handle(2.5)])
    popped = context.execute("StackPopV2", [stack], {"elem_type": tf.float32})
    assert popped[0].numpy() == 2.5


def test_a_tensor_array_ends_with_its_step(context: Context) -> None:
    context.start_step()
    array, flow = context.execute("TensorArrayV3", [context.handle(2)], FLOAT)
    zero = context.handle(0)
    (flow,) = context.execute(
        "TensorArrayWriteV3", [array, zero, context.handle(1.5), flow]
    )
    read = context.execute("TensorArrayReadV3", [array, zero, flow], FLOAT)
    assert read[0].numpy() == 1.5
    context.end_step()
    with pytest.raises(tf.errors.OpError):
        context.execute("TensorArrayReadV3", [array, zero, flow], FLOAT)


def test_a_list_of_tensors(context: Context) -> None:
    """A variant goes from op to op."""
    shape, most = context.handle([], tf.int32), context.handle(-1)
    (items,) = context.execute(
        "EmptyTensorList", [shape, most], {"element_dtype": tf.float32}
    )
    for number in (1.0, 2.0):
        (items,) = context.execute(
            "TensorListPushBack", [items, context.handle(number)]
        )
    (stacked,) = context.execute(
        "TensorListStack", [items, shape], {"element_dtype": tf.float32}
    )
    assert stacked.numpy().tolist() == [1.0, 2.0]
    assert items.shape == []
    with pytest.raises(tf.errors.InvalidArgumentError, match="variant"):
        items.numpy()


def test_an_iterator(context: Context) -> None:
    kinds = {"output_types": [tf.int64], "output_shapes": [[]]}
    bounds = [context.handle(n, tf.int64) for n in (0, 2, 1)]
    (numbers,) = context.execute("RangeDataset", bounds, kinds)
    iterator, deleter = context.execute("AnonymousIteratorV2", [], kinds)
    context.execute("MakeIterator", [numbers, iterator])
    taken = [
        context.execute("IteratorGetNext", [iterator], kinds)[0].numpy()
        for _ in range(2)
    ]
    assert taken == [0, 1]
    with pytest.raises(tf.errors.OutOfRangeError):
        context.execute("IteratorGetNext", [iterator], kinds)
    context.execute("DeleteIterator", [iterator, deleter])


@pytest.mark.parametrize("shape", [None, [None, 2], [3]])
def test_shapes_with_unknown_sizes_are_the_same_attr(
    context: Context, shape: Any
) -> None:
    attrs = {"dtype": tf.float32, "shape": shape, "shared_name": "v"}
    kinds = {
        "component_types": [tf.float32],
        "shapes": [[None] if shape is None else shape],
        "shared_name": "q",
    }
    for op, given in (("VarHandleOp", attrs), ("PaddingFIFOQueueV2", kinds)):
        handles = [context.execute(op, [], given)[0] for _ in range(3)]
        assert len({id(handle.value) for handle in handles}) == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="component shapes"):
        context.execute("PaddingFIFOQueueV2", [], {**kinds, "shapes": [[7]]})
    assert len(context._kernels._kernels) == 3


# --- what is refused --------------------------------------------------------------

SCALAR, TEXT, ROW = 1.0, "a", [[1.0, 2.0]]
# (op, inputs, attrs, device, class, a part of the message)
REFUSED: list[tuple[str, list[Any], dict[str, Any], str, str, str]] = [
    ("AddV2", [SCALAR, 1], {}, "", "InvalidArgument", r"input #1.*float tensor.*int32"),
    ("AddV2", [SCALAR], {}, "", "InvalidArgument", "expected 2 inputs, got 1"),
    ("AddV2", [SCALAR] * 3, {}, "", "InvalidArgument", "expected 2 inputs, got 3"),
    ("AddV2", [SCALAR] * 2, {"foo": 1}, "", "InvalidArgument", "Attribute 'foo'"),
    ("Nope", [SCALAR], {}, "", "NotFound", "'Nope' is neither"),
    ("MatMul", [ROW, ROW], {}, "", "InvalidArgument", r"incompatible.*\[Op:MatMul\]"),
    ("MatMul", [ROW, ROW], {"transpose_a": "x"}, "", "InvalidArgument", "transpose_a"),
    ("Softmax", [[1]], {}, "", "NotFound", "valid device.*T=int32"),
    ("Unpack", [ROW], {"num": -1}, "", "InvalidArgument", "at least minimum 0"),
    ("Conv2D", [ROW, ROW], {"padding": "SAME"}, "", "InvalidArgument", "'strides'"),
    ("ConcatV2", [(), 0], {}, "", "InvalidArgument", "missing attr|at least"),
    ("AddV2", [(SCALAR, SCALAR)], {}, "", "InvalidArgument", "'x'.*is not a list"),
    ("AddV2", [SCALAR] * 2, {}, "cpu", "InvalidArgument", "Malformed device.*'cpu'"),
    ("AddV2", [SCALAR] * 2, {}, "/cpu:7", "InvalidArgument", "Could not satisfy"),
    ("AddV2", [SCALAR] * 2, {}, "/job:w/cpu:0", "InvalidArgument", "Could not satisfy"),
    ("Placeholder", [], FLOAT, "", "InvalidArgument", "You must feed a value"),
    ("Switch", [SCALAR, True], {}, "", "InvalidArgument", "does not run alone"),
    ("Merge", [(SCALAR, SCALAR)], {}, "", "InvalidArgument", "does not run alone"),
    ("Enter", [SCALAR], {"frame_name": "f"}, "", "InvalidArgument", "not run alone"),
    ("Exit", [SCALAR], {}, "", "InvalidArgument", "does not run alone"),
    ("Assign", [SCALAR] * 2, {}, "", "InvalidArgument", "reference type.*float_ref"),
    ("FIFOQueue", [], {"component_types": [tf.int32]}, "", "InvalidArgument", "_ref"),
    ("VariableV2", [], {"shape": [], **FLOAT}, "", "InvalidArgument", "float_ref"),
    ("ReadVariableOp", [SCALAR], FLOAT, "", "InvalidArgument", "a resource tensor"),
    ("Assert", [False, (TEXT,)], {}, "", "InvalidArgument", "assertion failed"),
    ("Const", [], {**FLOAT, "value": np.int32(1)}, "", "InvalidArgument", "int32"),
]


@pytest.mark.parametrize(
    ("op", "inputs", "attrs", "device", "error", "text"),
    REFUSED,
    ids=[f"{row[0]}-{number}" for number, row in enumerate(REFUSED)],
)
def test_refused(
    context: Context,
    op: str,
    inputs: list[Any],
    attrs: dict[str, Any],
    device: str,
    error: str,
    text: str,
) -> None:
    given: list[Any] = [
        [context.handle(item) for item in value]
        if isinstance(value, tuple)
        else context.handle(value)
        for value in inputs
    ]
    for _ in range(2):  # an error is not kept, nor forgotten
        with pytest.raises(getattr(tf.errors, f"{error}Error"), match=text):
            context.execute(op, given, attrs, device)


def test_inputs_are_handles(context: Context) -> None:
    with pytest.raises(TypeError, match="other than 'TensorHandle': float"):
        context.execute("AddV2", [1.0, 2.0])


def test_ops_that_a_policy_refuses() -> None:
    with Context(op_policy=OpPolicy(["safe"])) as context:
        path = context.handle("/tmp/x")
        with pytest.raises(tf.errors.PermissionDeniedError, match="ReadFile"):
            context.execute("ReadFile", [path])
        assert context.execute("Identity", [path])[0].numpy() == b"/tmp/x"


# --- the end, threads, records -----------------------------------------------------


def test_nothing_runs_after_the_end() -> None:
    context = Context()
    x = context.handle(1.0)
    context.execute("AddV2", [x, x])
    op = EagerOperation(context, "Neg")
    op.add_input(x)
    context.close()
    context.close()
    assert x.numpy() == 1.0
    for use in (
        lambda: context.execute("AddV2", [x, x]),
        lambda: context.handle(1.0),
        op.run,
        lambda: context.add_function(b""),
    ):
        with pytest.raises(tf.errors.FailedPreconditionError, match="was closed"):
            use()


def test_the_end_wakes_what_waits() -> None:
    context = Context()
    types = {"component_types": [tf.int32]}
    (queue,) = context.execute("FIFOQueueV2", [], {**types, "shared_name": "q"})
    told: list[BaseException] = []

    def wait() -> None:
        try:
            context.execute("QueueDequeueV2", [queue], types)
        except tf.errors.OpError as error:
            told.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    context.close()
    thread.join(60)
    assert not thread.is_alive()
    assert len(told) == 1


def test_threads(context: Context) -> None:
    """Eight threads make and use the same kernels; none is made twice."""
    attrs = {"dtype": tf.int64, "shape": []}
    (counter,) = context.execute("VarHandleOp", [], attrs)
    zero, one = context.handle(0, tf.int64), context.handle(1, tf.int64)
    context.execute("AssignVariableOp", [counter, zero])
    shape = context.handle([], tf.int32)
    failures: list[BaseException] = []
    drawn: list[float] = []

    def work() -> None:
        try:
            for _ in range(20):
                context.execute("AssignAddVariableOp", [counter, one])
                seeds = {"dtype": tf.float32, "seed": 3}
                drawn.append(
                    context.execute("RandomUniform", [shape], seeds)[0].numpy()
                )
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures
    (total,) = context.execute("ReadVariableOp", [counter], {"dtype": tf.int64})
    assert total.numpy() == 160
    assert len(set(drawn)) > 150  # one sequence, not eight of the same


def test_run_metadata(context: Context) -> None:
    x = context.handle([1.0, 2.0])
    context.execute("Neg", [x])
    context.enable_run_metadata()
    context.execute("AddV2", [x, x])
    (device,) = context.export_run_metadata().step_stats.dev_stats
    assert device.device == context.devices[0].name
    (node,) = device.node_stats
    assert node.node_name == "AddV2"
    sizes = [d.size for d in node.output[0].tensor_description.shape.dim]
    assert sizes == [2]
    assert not context.export_run_metadata().step_stats.dev_stats
    context.disable_run_metadata()
    context.execute("AddV2", [x, x])
    assert not context.export_run_metadata().step_stats.dev_stats
