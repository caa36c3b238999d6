"""Placement on devices that do not exist: only their names matter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import tensorloom as tf  # registers the ops
from tensorloom.framework.errors import InvalidArgumentError
from tensorloom.framework.interfaces import DeviceInfo
from tensorloom.framework.runtime.session_config import SessionConfig
from tensorloom.master.place.placer import Placer
from tests.master.graph_text import parse

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Node

_ = tf
TASK = "/job:localhost/replica:0/task:0"


def devices(*names: str) -> list[DeviceInfo]:
    return [
        DeviceInfo(f"{TASK}/device:{name}", name.partition(":")[0], 1, 1)
        for name in names
    ]


CPU, TWO_CPUS = devices("CPU:0"), devices("CPU:0", "CPU:1")
WITH_GPUS = devices("CPU:0", "CPU:1", "GPU:0", "GPU:1")


def has_kernel(node: Node, device_type: str) -> bool:
    """Strings and `Cos` exist on CPUs only."""
    return device_type == "CPU" or node.op not in ("Cos", "StringJoin")


def place(text: str, on: list[DeviceInfo], **options: Any) -> dict[str, str]:
    """The local device of each node."""
    graph = parse(text)
    placer = Placer(on, has_kernel, SessionConfig(**options))
    placer.extend(graph.nodes.values())
    placed = placer.place(graph)
    assert all(n.device.startswith(TASK) for n in placed.nodes.values())
    assert list(placed.nodes) == list(graph.nodes)
    return {name: n.device.partition("/device:")[2] for name, n in placed.nodes.items()}


CASES = [
    ("one device", CPU, "a = Const<1.0>\nb = Neg(a)", {"a": "CPU:0", "b": "CPU:0"}),
    (
        "the first CPU unless told",
        TWO_CPUS,
        "a = Const<1.0>\nb = Neg(a) @/device:CPU:1\nc = Neg(b) @/cpu:*",
        {"a": "CPU:1", "b": "CPU:1", "c": "CPU:0"},
    ),
    (
        "a constant stays where consumers on two devices do not agree",
        TWO_CPUS,
        "a = Const<1.0>\nb = Neg(a) @/cpu:1\nc = Neg(a)",
        {"a": "CPU:0", "b": "CPU:1", "c": "CPU:0"},
    ),
    (
        "a constant stays where it is told",
        TWO_CPUS,
        "a = Const<1.0> @/cpu:0\nb = Neg(a) @/cpu:1",
        {"a": "CPU:0", "b": "CPU:1"},
    ),
    (
        "what reads a shape goes to its tensor",
        TWO_CPUS,
        "a = Const<1.0>\nb = Neg(a) @/cpu:1\nc = Shape(b)\nd = Size(b) @/cpu:0\n"
        "e = Neg(b)",
        {"a": "CPU:1", "b": "CPU:1", "c": "CPU:1", "d": "CPU:0", "e": "CPU:0"},
    ),
    (
        "a GPU where there is a kernel",
        WITH_GPUS,
        "a = Const<1.0>\nb = Neg(a)\nc = Cos(b)\nd = Neg(c) @/cpu:0",
        {"a": "GPU:0", "b": "GPU:0", "c": "CPU:0", "d": "CPU:0"},
    ),
    (
        "a partial name with a type or a task",
        WITH_GPUS,
        "a = Const<1.0> @/device:GPU:*\nb = Neg(a) @/job:localhost/task:0/gpu:1",
        {"a": "GPU:1", "b": "GPU:1"},
    ),
    (
        "a reference stays with its variable",
        TWO_CPUS,
        "v = VariableV2 {dtype='float32'} @/cpu:1\nk = Const<1.0>\n"
        "w = Assign(v, k) @/cpu:0\nr = Identity(v) @/cpu:0",
        {"v": "CPU:1", "k": "CPU:1", "w": "CPU:1", "r": "CPU:0"},
    ),
    (
        "a resource stays with its handle",
        TWO_CPUS,
        "h = VarHandleOp {dtype='float32'} @/cpu:1\n"
        "r = ReadVariableOp(h) {dtype='float32'}\ns = Neg(r)",
        {"h": "CPU:1", "r": "CPU:1", "s": "CPU:0"},
    ),
    (
        "a group goes where all of it can",
        WITH_GPUS,
        "a = Const<1.0>\nb = Cos(a) {_class=[b'loc:@a']}\nc = Neg(b)",
        {"a": "CPU:0", "b": "CPU:0", "c": "GPU:0"},
    ),
    (
        "a group follows whoever names a device",
        TWO_CPUS,
        "a = Const<1.0>\nb = Neg(a) {_class=[b'loc:@a']} @/cpu:1",
        {"a": "CPU:1", "b": "CPU:1"},
    ),
]


@pytest.mark.parametrize(
    ("title", "on", "text", "expected"), CASES, ids=lambda c: str(c)[:40]
)
def test_placed(
    title: str, on: list[DeviceInfo], text: str, expected: dict[str, str]
) -> None:
    assert place(text, on) == expected


CLUSTER = [
    DeviceInfo(f"/job:{task}/replica:0/task:{index}/device:CPU:0", "CPU", 0, number, "")
    for number, (task, index) in enumerate([("w", 2), ("ps", 0), ("w", 10)], start=1)
]


@pytest.mark.parametrize(
    ("requested", "by_name", "beside_master"),
    [
        ("", "/job:ps/replica:0/task:0", "/job:w/replica:0/task:2"),
        ("/cpu:0", "/job:ps/replica:0/task:0", "/job:w/replica:0/task:2"),
        ("/job:w", "/job:w/replica:0/task:10", "/job:w/replica:0/task:2"),
        ("/task:10", "/job:w/replica:0/task:10", "/job:w/replica:0/task:10"),
    ],
)
def test_nodes_without_a_task(requested: str, by_name: str, beside_master: str) -> None:
    """TensorFlow 1 takes the first device by name, later versions the master's."""
    node = f"v = VarHandleOp {{dtype='float32'}} @{requested}".rstrip("@ ")
    graph = parse(node)
    for producer, task in ((134, by_name), (2474, beside_master)):
        placer = Placer(CLUSTER, has_kernel, SessionConfig(), producer)
        placer.extend(graph.nodes.values())
        assert placer.place(graph).nodes["v"].device == f"{task}/device:CPU:0"


SOFT = [
    ("a = Const<1.0> @/device:GPU:0", {"a": "CPU:0"}),
    ("a = Const<1.0> @/device:CPU:7", {"a": "CPU:0"}),
    ("a = Const<1.0> @/device:FOO:0", {"a": "CPU:0"}),
]


@pytest.mark.parametrize(("text", "expected"), SOFT)
def test_soft_placement(text: str, expected: dict[str, str]) -> None:
    assert place(text, CPU, allow_soft_placement=True) == expected
    with pytest.raises(InvalidArgumentError):
        place(text, CPU)


def test_soft_placement_without_a_kernel() -> None:
    text = "a = Const<1.0>\nb = Cos(a) @/gpu:0"
    assert place(text, WITH_GPUS, allow_soft_placement=True)["b"] == "CPU:0"
    with pytest.raises(InvalidArgumentError) as info:
        place(text, WITH_GPUS)
    assert "no supported kernel for GPU devices" in info.value.message
    assert "op Cos of node 'b'" in info.value.message


REFUSED = [
    (
        "a = Const<1.0> @/device:GPU:0",
        "Cannot assign a device for operation a: {{node a}} was explicitly assigned to "
        "/device:GPU:0 but available devices are [ "
        f"{TASK}/device:CPU:0 ]. Make sure the device specification refers to a valid "
        "device. The requested device appears to be a GPU",
    ),
    ("a = Const<1.0> @/job:worker", "explicitly assigned to /job:worker but"),
    ("a = Const<1.0> @/task:1", "explicitly assigned to /task:1 but"),
    ("a = Const<1.0> @/what", "Malformed device specification '/what'"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
@pytest.mark.parametrize("soft", [False, True])
def test_refused(text: str, message: str, soft: bool) -> None:
    if soft and ("GPU" in text):
        return
    with pytest.raises(InvalidArgumentError) as info:
        place(text, CPU, allow_soft_placement=soft)
    assert message in info.value.message


def test_a_group_that_excludes_itself() -> None:
    text = "a = Const<1.0> @/cpu:0\nb = Neg(a) {_class=[b'loc:@a']} @/cpu:1\nc = Neg(b)"
    with pytest.raises(InvalidArgumentError) as info:
        place(text, TWO_CPUS)
    assert (
        "Cannot colocate nodes {{node b}} and {{node a}}: Cannot merge devices with "
        "incompatible ids: '/device:CPU:1' and '/device:CPU:0'"
    ) in info.value.message
    assert place(text, TWO_CPUS, allow_soft_placement=True)["b"] == "CPU:0"


def test_a_misplaced_node_fails_every_step_of_the_session() -> None:
    graph = parse("a = Const<1.0>\nb = Const<1.0> @/gpu:0")
    needed = graph.with_nodes([graph.nodes["a"]])
    for pruned_only in (False, True):
        config = SessionConfig(place_pruned_graph=pruned_only)
        placer = Placer(CPU, has_kernel, config)
        placer.extend(graph.nodes.values())
        if pruned_only:
            assert placer.place(needed).nodes
        else:
            with pytest.raises(InvalidArgumentError, match="operation b"):
                placer.place(needed)


@pytest.mark.parametrize("pruned_only", [False, True])
@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("a = Const<1.0> @/gpu:0\nb = Neg(a) @/gpu:0", "b"),
        ("a = Placeholder {dtype='float32'} @/gpu:0\nb = Neg(a) @/gpu:1", "b"),
        ("a = Const<1.0> @/gpu:0\nb = Neg(a)", "a"),
        ("a = Const<1.0>\nb = Neg(a) @/job:x\nc = Neg(b) @/gpu:0", "b"),
    ],
)
def test_sources_are_named_last(text: str, named: str, pruned_only: bool) -> None:
    with pytest.raises(InvalidArgumentError, match=f"for operation {named}: "):
        place(text, CPU, place_pruned_graph=pruned_only)


def test_a_variable_stays_where_the_first_step_put_it() -> None:
    first = parse("v = VariableV2 {dtype='float32'}\nk = Const<1.0>\nw = Assign(v, k)")
    placer = Placer(WITH_GPUS, has_kernel, SessionConfig())
    placer.extend(first.nodes.values())
    assert placer.place(first).nodes["v"].device.endswith("GPU:0")
    later = first.with_nodes(
        [*first.nodes.values(), parse("a = Const<1.0>").nodes["a"]]
    )
    placer.extend([later.nodes["a"]])
    assert placer.place(later).nodes["w"].device.endswith("GPU:0")


def test_the_log(capfd: pytest.CaptureFixture[str]) -> None:
    graph = parse("a = Const<1.0>\nb = Neg(a)")
    placer = Placer(CPU, has_kernel, SessionConfig(log_device_placement=True))
    placer.place(graph)
    placer.place(graph)
    assert capfd.readouterr().err.splitlines() == [
        "Device mapping:",
        f"a: (Const): {TASK}/device:CPU:0",
        f"b: (Neg): {TASK}/device:CPU:0",
    ]


def tasks_of(placer: Placer, text: str) -> dict[str, str]:
    """The tasks of a step's nodes, of which the session knows those that it has."""
    graph = parse(text)
    step = placer.for_step()
    step.extend(graph.nodes.values())
    placed = step.place(graph)
    return {name: n.device.partition("/replica")[0] for name, n in placed.nodes.items()}


TWO_JOBS = [
    DeviceInfo(f"/job:{job}/replica:0/task:0/device:CPU:0", "CPU", 0, number, "")
    for number, job in enumerate(["a", "b"], start=1)
]
VARIABLE = "{dtype='float32'}"


def test_a_name_that_steps_give_to_different_nodes() -> None:
    session = (
        f"v = VariableV2 {VARIABLE} @/job:a\nw = VariableV2 {VARIABLE} @/job:b\n"
        "k = Const<1.0>"
    )
    placer = Placer(TWO_JOBS, has_kernel, SessionConfig())
    placer.extend(parse(session).nodes.values())
    for variable, job in (("v", "/job:a"), ("w", "/job:b"), ("v", "/job:a")):
        step = f"{session}\nstep = Assign({variable}, k)"
        found = tasks_of(placer, step)
        assert (found["v"], found["w"], found["step"]) == ("/job:a", "/job:b", job)


def test_a_step_keeps_a_variable_for_later_steps() -> None:
    """The first step that says where the variable goes says it for all."""
    session = f"v = VariableV2 {VARIABLE}\nk = Const<1.0>\nw = Assign(v, k)"
    placer = Placer(TWO_JOBS, has_kernel, SessionConfig())
    placer.extend(parse(session).nodes.values())
    found = tasks_of(placer, f"{session}\nstep = Assign(v, k) @/job:b")
    assert found["v"] == found["w"] == found["step"] == "/job:b"
    assert tasks_of(placer, session)["v"] == "/job:b"
    found = tasks_of(placer, f"{session}\nother = Assign(v, k) @/job:a")
    assert found["v"] == found["other"] == "/job:b"


def test_a_reference_wins_over_where_a_group_was_placed() -> None:
    placer = Placer(TWO_JOBS, has_kernel, SessionConfig())
    first = "a = Const<1.0>\nb = Neg(a) {_class=[b'loc:@a']}"
    placer.extend(parse(first).nodes.values())
    assert placer.place(parse(first)).nodes["b"].device.startswith("/job:a")
    graph = parse(
        f"{first}\nv = VariableV2 {VARIABLE} @/job:b\n"
        "w = Assign(v, b) {_class=[b'loc:@a']}"
    )
    placer.extend(list(graph.nodes.values())[2:])
    placed = placer.place(graph).nodes
    assert placed["w"].device == placed["v"].device == TWO_JOBS[1].name
