"""The op harness itself, with tensorloom on both sides: no TensorFlow is needed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.protos.graph_pb2 import GraphDef
from tests.peer import conftest
from tests.peer.ops import batch_runner, compare, draw, harness, table
from tests.peer.ops.program import Program
from tests.peer.ops.spec import Spec, Tolerance, call, known_list

FLOATS = (tf.float32, tf.float64)


def spec_of(op: str, make: Any, **options: Any) -> Spec:
    return Spec(op, make, "machinery", FLOATS, "T", **options)


def answers(spec: Spec, seed: int = 0) -> list[tuple[harness.Case, list[Any]]]:
    """Each case with the answers of its three variants."""
    cases = list(harness.draw_cases(spec, seed))
    asked = [one for case in cases for one in harness.requests(case, spec, True)]
    found = batch_runner.execute(tf, asked)
    return [(case, found[3 * i : 3 * i + 3]) for i, case in enumerate(cases)]


def test_cases_of_one_seed_are_the_same_each_time() -> None:
    spec = spec_of("Add", lambda d: (d.array((2, 3)), d.array((3,))))
    one, other = (
        [case.program.graph_def("all") for case in harness.draw_cases(spec, 7)]
        for _ in range(2)
    )
    assert one == other


def test_an_op_agrees_with_itself_in_every_aspect() -> None:
    spec = spec_of("Mul", lambda d: (d.array((2, 3)), d.array((3,))))
    kinds = set()
    for case, (known, _, unknown) in answers(spec):
        kinds.add(case.kind.split(" ")[0])
        assert compare.step_differences(unknown, known, spec) == [] or (
            case.kind != "valid"
        )
        if case.kind == "valid":
            assert (
                compare.gradient_differences(
                    unknown["gradient"], known["gradient"], spec
                )
                == []
            )
    assert {"valid", "rank", "size", "dtype"} <= kinds


def test_other_values_shapes_gradients_and_errors_are_told() -> None:
    add, sub = (spec_of(op, lambda d: (d.array((2, 3)),) * 2) for op in ("Add", "Sub"))
    sub.op = "Add"  # the same draws, another node
    ours = answers(add)[0][1][0]
    program = add.program(draw.Draw("Add", "float32", tf.float32, 0, 0))
    program.nodes[0].op = "Sub"
    case = harness.Case("float32", program, "valid")
    (theirs,) = batch_runner.execute(tf, [harness.request(case, add, "all", True)])
    assert compare.step_differences(ours, theirs, add)
    assert compare.gradient_differences(ours["gradient"], theirs["gradient"], add)
    assert compare.static_differences(ours, {**theirs, "static": [("float32", None)]})
    failed = {**theirs, "error": ("ValueError", "shapes")}
    assert compare.outcome(failed) == ("construction", "ValueError")
    assert compare.error_differences(ours, failed)


@pytest.mark.parametrize(
    ("known", "dims"),
    [("all", [2, 3]), ("part", [None, 3]), ("none", None)],
)
def test_variants_tell_other_parts_of_the_shapes(known: str, dims: Any) -> None:
    program = Program()
    program.run(program.op("Neg", program.feed(np.zeros((2, 3), np.float32))))
    graph = GraphDef.FromString(program.graph_def(known))
    with tf.Graph().as_default():
        (node,) = tf.import_graph_def(graph, return_elements=["x0:0"])
        shape = node.shape
    assert (shape.as_list() if shape.ndims is not None else None) == dims


def test_functions_of_a_program_run() -> None:
    program = Program()
    twice = program.function(["float32"], lambda f, x: [f.op("Add", x, f.const(1.0))])
    program.run(program.op("PartitionedCall", [2.0], Tout=["float32"], f=twice))
    case = harness.Case("-", program, "valid")
    spec = Spec("PartitionedCall", lambda d: call(), "machinery", (), "")
    (found,) = batch_runner.execute(tf, [harness.request(case, spec, "all", True)])
    assert compare.array(found["steps"][0]["values"][0]) == 3.0


def test_goldens_survive_json() -> None:
    value = {"a": (b"\x00\xff", [1, None, "x"]), "b": {"c": 1.5}}
    assert table.from_json(table.to_json(value)) == value


def test_known_differences_name_aspects_and_cells() -> None:
    spec = spec_of("Neg", lambda d: (), known=known_list({"values float16": "why"}))
    assert spec.reason("values", "float16") == "why"
    assert not spec.reason("values", "float32")
    assert not spec.reason("errors", "float16")


@pytest.mark.parametrize(
    ("dtype", "apart", "tolerance", "equal"),
    [
        ("float32", 1e-7, Tolerance(), True),
        ("float32", 1e-3, Tolerance(), False),
        ("float32", 1e-3, Tolerance(2e-3), True),
        ("int32", 1, Tolerance(), False),
    ],
)
def test_tolerances(
    dtype: str, apart: float, tolerance: Tolerance, equal: bool
) -> None:
    a = np.array([1, 2], dtype)
    found = compare.number_difference(a, (a + apart).astype(dtype), dtype, tolerance)
    assert (not found) == equal


@pytest.mark.parametrize("record", [False, True])
def test_results_of_a_worker_reach_the_table(record: bool) -> None:
    """What a process of xdist leaves, the one that began it finds."""
    result = harness.OpResult(
        "Neg", "1.15", {"float": harness.Cell({"values"})}, goldens=[{"a": b"b"}]
    )
    there, here = pytest.Stash(), pytest.Stash()
    there[conftest.RESULTS] = [result]
    worker = SimpleNamespace(
        stash=there, workeroutput={}, getoption=lambda name: record
    )
    conftest.pytest_sessionfinish(cast("Any", SimpleNamespace(config=worker)))
    node = SimpleNamespace(
        workeroutput=worker.workeroutput, config=SimpleNamespace(stash=here)
    )
    conftest.pytest_testnodedown(node, None)
    (found,) = here[conftest.RESULTS]
    assert (found.op, found.cells) == ("Neg", result.cells)
    assert found.goldens == ([{"a": b"b"}] if record else [])
