"""References to variables in classic control flow: kept, or read for their value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tensorloom.framework import errors
from tensorloom.framework.runtime.resource import HOST_VARIABLE_ELEMENTS
from tensorloom.framework.runtime.session_config import DEFAULT
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tests.worker.small_graphs import arg, const, graph, make_worker, node, retval

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Node
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.worker.run.worker import Worker

F32, BOOL = dtypes.float32, dtypes.bool
PRED = arg("p", 0, dtype=BOOL)


def plain(
    name: str, op: str, inputs: list[str], output: DType | None, **attrs: Any
) -> Node:
    """A node with these attrs alone, of one output at most."""
    made = node(name, op, inputs, outputs=1 if output else 0)
    return made.replace(attrs=attrs, output_types=(output,) if output else ())


def variable(name: str, shape: tuple[int, ...] = (), dtype: DType = F32) -> Node:
    attrs = {"container": b"", "shared_name": b"", "dtype": dtype}
    of = TensorShape.of(shape)
    made = plain(name, "VariableV2", [], dtype._as_ref, shape=of, **attrs)
    return made.replace(output_shapes=(of,))


def ref(name: str, op: str, inputs: list[str], outputs: int = 1, **attrs: Any) -> Node:
    return node(
        name, op, inputs, dtype=F32._as_ref, outputs=outputs, **{"T": F32, **attrs}
    )


def merge(name: str, inputs: list[str], op: str = "Merge", dtype: DType = F32) -> Node:
    made = node(name, op, inputs, dtype=dtype, outputs=2, N=len(inputs), T=F32)
    return made.replace(output_types=(dtype, dtypes.int32))


def worker_with(*variables: Node, value: Any = 7.0) -> Worker:
    """A worker whose variables are all `value`."""
    worker = make_worker()
    for index, held in enumerate(variables):
        dtype, shape = held.attrs["dtype"], held.attrs["shape"].as_list()
        given = np.full(shape, value, dtype.as_numpy_dtype)
        assign = node(
            f"assign{index}",
            "Assign",
            [held.name, "c"],
            dtype=dtype._as_ref,
            shape=tuple(shape),
            T=dtype,
            use_locking=True,
            validate_shape=True,
        )
        run(worker, held, const("c", given), assign)
    return worker


def run(worker: Worker, *nodes: Node, feeds: tuple[Any, ...] = ()) -> list[Any]:
    arrays = [np.asarray(feed) for feed in feeds]
    return worker.register_graph("s", graph(*nodes), DEFAULT).run(arrays)


V = variable("v")
ENTER = {"frame_name": b"f", "is_constant": False, "parallel_iterations": 10}

# Nodes from "v" to a value or a reference "y", which all pass the variable on.
PATHS: dict[str, list[Node]] = {
    "Switch": [node("y0", "Switch", ["v", "p"], outputs=2), merge("y", ["y0:1"])],
    "RefSwitch Merge": [
        ref("y0", "RefSwitch", ["v", "p"], 2),
        merge("y", ["y0:0", "y0:1"]),
    ],
    "RefSwitch RefMerge": [
        ref("y0", "RefSwitch", ["v", "p"], 2),
        merge("y", ["y0:0", "y0:1"], "RefMerge", F32._as_ref),
    ],
    "RefSwitch Identity Merge": [
        ref("y0", "RefSwitch", ["v", "p"], 2),
        node("y1", "Identity", ["y0:1"]),
        merge("y", ["y0:0", "y1"]),
    ],
    "Enter Exit": [
        node("y0", "Enter", ["v"], **ENTER),
        node("y", "Exit", ["y0"]),
    ],
    "RefEnter Exit": [
        ref("y0", "RefEnter", ["v"], **ENTER),
        node("y", "Exit", ["y0"]),
    ],
    "RefEnter RefExit": [
        ref("y0", "RefEnter", ["v"], **ENTER),
        ref("y", "RefExit", ["y0"]),
    ],
    "RefSwitch RefIdentity Merge": [
        ref("y0", "RefSwitch", ["v", "p"], 2),
        ref("y1", "RefIdentity", ["y0:1"]),
        merge("y", ["y0:0", "y1"]),
    ],
}
CONSUMERS = ["Snapshot", "Identity", "Add"]


@pytest.mark.parametrize("consumer", CONSUMERS)
@pytest.mark.parametrize("path", PATHS)
def test_a_consumer_of_values_gets_the_value(path: str, consumer: str) -> None:
    inputs = ["y", "y"] if consumer == "Add" else ["y"]
    end = [node("z", consumer, inputs), retval("z", 0), retval("y", 1)]
    values = run(worker_with(V), V, PRED, *PATHS[path], *end, feeds=(True,))
    assert values == [14.0 if consumer == "Add" else 7.0, 7.0]


@pytest.mark.parametrize("initialized", [True, False])
def test_a_variable_is_read_if_it_is_initialized(initialized: bool) -> None:
    nodes = [
        V,
        plain("p", "IsVariableInitialized", ["v"], BOOL, dtype=F32),
        const("c", np.float32(3)),
        node("s", "Switch", ["c", "p"], outputs=2),
        ref("r", "RefSwitch", ["v", "p"], 2),
        merge("m", ["s:0", "r:1"]),
        node("z", "Add", ["m", "c"]),
        retval("z", 0),
        retval("m:1", 1, dtypes.int32),
    ]
    worker = worker_with(V) if initialized else make_worker()
    assert run(worker, *nodes) == ([10.0, 1] if initialized else [6.0, 0])


@pytest.mark.parametrize("op", ["Merge", "Switch", "Enter"])
def test_the_node_that_reads_an_uninitialized_variable_is_named(op: str) -> None:
    y = {
        "Merge": merge("y", ["v"]),
        "Switch": node("y", "Switch", ["v", "p"], outputs=2),
        "Enter": node("y", "Enter", ["v"], **ENTER),
    }[op]
    with pytest.raises(errors.FailedPreconditionError) as raised:
        run(make_worker(), V, PRED, y, feeds=(True,))
    assert "Attempting to use uninitialized value v" in raised.value.message
    assert "{{node y}}" in raised.value.message


@pytest.mark.parametrize("shape", [(), (HOST_VARIABLE_ELEMENTS + 1,)])
def test_a_value_is_what_it_was_when_it_was_read(shape: tuple[int, ...]) -> None:
    v = variable("v", shape)
    nodes = [
        v,
        PRED,
        ref("r", "RefSwitch", ["v", "p"], 2),
        merge("m", ["r:0", "r:1"]),
        merge("kept", ["r:0", "r:1"], "RefMerge", F32._as_ref),
        const("c", np.ones(shape, np.float32)),
        ref("add", "AssignAdd", ["kept", "c", "^m"], use_locking=False),
        node("before", "Add", ["m", "c", "^add"], shape=shape),
        node("after", "Add", ["kept", "c", "^add"], shape=shape),
        retval("before", 0),
        retval("after", 1),
    ]
    inferred = ("r", "m", "kept", "add")
    nodes = [n.replace(output_shapes=None) if n.name in inferred else n for n in nodes]
    worker = worker_with(v)
    for step in (0, 1):
        before, after = run(worker, *nodes, feeds=(True,))
        np.testing.assert_array_equal(before, np.full(shape, 8.0 + step))
        np.testing.assert_array_equal(after, np.full(shape, 9.0 + step))


@pytest.mark.parametrize("value", [True, False])
@pytest.mark.parametrize("through", ["b", "read"])
def test_a_variable_decides_a_switch(through: str, value: bool) -> None:
    b = variable("b", (), BOOL)
    nodes = [
        b,
        node("read", "Identity", ["b"], dtype=BOOL),
        const("c", np.float32(3)),
        node("s", "Switch", ["c", through], outputs=2),
        merge("m", ["s:0", "s:1"]),
        retval("m:1", 0, dtypes.int32),
    ]
    assert run(worker_with(b, value=value), *nodes) == [int(value)]


def test_a_resource_handle_is_not_read() -> None:
    b = variable("b", (), BOOL)
    handle = plain(
        "h",
        "VarHandleOp",
        [],
        dtypes.resource,
        dtype=F32,
        shape=TensorShape.of(()),
        container=b"",
        shared_name=b"h",
    )
    switch = node("s", "Switch", ["h", "read"], dtype=dtypes.resource, outputs=2)
    worker = worker_with(b, value=True)
    assign = plain("a", "AssignVariableOp", ["h", "c"], None, dtype=F32)
    run(worker, handle, const("c", np.float32(5)), assign)
    nodes = [
        handle,
        b,
        node("read", "Identity", ["b"], dtype=BOOL),
        switch,
        plain("value", "ReadVariableOp", ["s:1"], F32, dtype=F32),
        retval("value", 0),
    ]
    assert run(worker, *nodes) == [5.0]


def test_a_fetch_of_a_reference_sees_all_updates() -> None:
    more = ref("more", "AssignAdd", ["v", "y"], use_locking=False)
    path = [node("y0", "Switch", ["c", "p"], outputs=2), merge("y", ["y0:0", "y0:1"])]
    # The fetch is ready before the update is.
    nodes = [V, retval("v", 0), const("c", np.float32(2)), PRED, *path, more]
    assert run(worker_with(V), *nodes, feeds=(True,)) == [9.0]
