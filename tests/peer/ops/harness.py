"""One op, all its cells, on both sides."""

from __future__ import annotations

import copy
import pickle
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops import batch_runner, compare
from tests.peer.ops.draw import Draw

if TYPE_CHECKING:
    from tests.peer.ops.op_peer import OpPeer
    from tests.peer.ops.program import Program, Ref, Step
    from tests.peer.ops.spec import Spec

ASPECTS = ("values", "shapes", "gradient", "errors")
VARIANTS = ("all", "part", "none")


@dataclass
class Case:
    """A drawn program."""

    cell: str
    program: Program
    kind: str  # "valid", or what is wrong with it


@dataclass
class Cell:
    """What is known of one op and dtype."""

    compared: set[str] = field(default_factory=set)
    differences: dict[str, list[str]] = field(default_factory=dict)
    kernel: bool = True  # TensorFlow has one

    def add(self, aspect: str, lines: list[str]) -> None:
        """Notes a comparison."""
        self.compared.add(aspect)
        if lines:
            self.differences.setdefault(aspect, []).extend(lines)


@dataclass
class OpResult:
    """What is known of one op."""

    op: str
    version: str
    cells: dict[str, Cell] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)  # of the spec itself
    crashes: list[str] = field(default_factory=list)  # of TensorFlow
    goldens: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0


def compare_op(spec: Spec, peer: OpPeer, seed: int) -> OpResult:
    """Runs the cases that a spec draws from a seed, here and there."""
    import tensorloom as tf

    begin = time.perf_counter()
    result = OpResult(spec.op, peer.version)
    for name in spec.cells():
        result.cells[name] = Cell()
    probe(spec, peer, seed, result)
    cases = [c for c in draw_cases(spec, seed) if result.cells[c.cell].kernel]
    asked = [variant for case in cases for variant in requests(case, spec, False)]
    wanted = [variant for case in cases for variant in requests(case, spec, True)]
    if any(names_files(variant) for variant in asked):
        theirs = peer.answers(asked)  # two systems at once would disturb each other
        ours = batch_runner.execute(tf, wanted)
    else:
        pending = peer.start(asked)
        ours = batch_runner.execute(tf, wanted)
        theirs = pending.get()
        if isinstance(theirs, BaseException):
            raise theirs
    count = len(VARIANTS)
    for i, case in enumerate(cases):
        part = slice(i * count, (i + 1) * count)
        judge(spec, case, asked[part], ours[part], theirs[part], result)
        recheck(spec, case, peer, ours[part], theirs[part], result)
    result.seconds = time.perf_counter() - begin
    return result


def names_files(request: dict[str, Any]) -> bool:
    """Whether a program or what it is fed names temporary files."""
    return tempfile.gettempdir().encode() in pickle.dumps(request)


def probe(spec: Spec, peer: OpPeer, seed: int, result: OpResult) -> None:
    """Finds the cells for which TensorFlow has no kernel, each in its own graph."""
    for name, dtype in spec.cells().items():
        program = spec.program(Draw(spec.op, name, dtype, 0, seed))
        asked = request(Case(name, program, "valid"), spec, "all", run=True)
        (answer,) = peer.answers([{**asked, "ys": []}])
        if answer is not None and compare.no_kernel(answer):
            result.cells[name].kernel = False


# --- cases ----------------------------------------------------------------------


def draw_cases(spec: Spec, seed: int) -> Iterator[Case]:
    """Valid cases for every cell, then invalid ones for the first two cells."""
    for number, (name, dtype) in enumerate(spec.cells().items()):
        for example in range(spec.examples):
            draw = Draw(spec.op, name, dtype, example, seed)
            program = spec.program(draw)
            yield Case(name, program, "valid")
            if number % 3 == 0 and example < 2:
                yield from mutated(spec, name, draw, program)
        if number < 2:
            for index, make in enumerate(spec.bad):
                draw = Draw(spec.op, name, dtype, index, seed)
                yield Case(name, spec.program(draw, make), f"bad {index}")


def mutated(spec: Spec, cell: str, draw: Draw, program: Program) -> Iterator[Case]:
    """The program with one leaf changed so that it is probably invalid."""
    if not spec.mutate or program.leaves == []:
        return
    for kind in spec.mutate:
        index = draw.integer(0, len(program.leaves) - 1)
        leaf = program.leaves[index]
        if kind == "dtype":
            if draw.example == 0:
                yield Case(
                    cell, with_other_dtype(program, index), f"dtype of {leaf.name}"
                )
            continue
        if kind == "integer":
            index = integer_leaf(draw, program)
            if index is None:
                continue
            leaf = program.leaves[index]
        value = mutate(kind, leaf.value, draw)
        if value is not None:
            told = f"{kind} of {leaf.name}: {value.shape} of {leaf.value.shape}"
            if kind == "integer":
                told = f"integer of {leaf.name}: {value.tolist()}"
            yield Case(cell, program.replaced(index, value), told)


def integer_leaf(draw: Draw, program: Program) -> int | None:
    """A leaf of small integers: an axis, a size, an index."""
    found = [
        i
        for i, leaf in enumerate(program.leaves)
        if leaf.value.dtype in (np.int32, np.int64) and 0 < leaf.value.size <= 64
    ]
    return draw.choice(found) if found else None


def mutate(kind: str, value: Any, draw: Draw) -> Any:
    """Another value for a leaf; None if that kind does not apply."""
    if kind == "rank":
        if value.ndim and value.size and draw.maybe():
            return (
                value[0]
                if isinstance(value[0], np.ndarray)
                else np.asarray(value[0], value.dtype)
            )
        return value[None]
    if kind == "size":
        if not value.ndim or not value.size:
            return None
        axis = draw.integer(0, value.ndim - 1)
        return np.concatenate([value, np.take(value, [0], axis)], axis)
    if kind == "empty":
        if not value.ndim:
            return None
        axis = draw.integer(0, value.ndim - 1)
        return np.take(value, [], axis)
    changed = value.copy()
    changed.reshape(-1)[draw.integer(0, value.size - 1)] = draw.choice([-1, -7, 100])
    return changed


def with_other_dtype(program: Program, index: int) -> Program:
    """The leaf gets a dtype that the nodes' attrs do not tell."""
    from tensorloom.framework.types import dtypes

    leaf = program.leaves[index]
    other = dtypes.int64 if leaf.dtype != dtypes.int64 else dtypes.float32
    shape = leaf.value.shape
    changed = program.replaced(index, np.zeros(shape, other.np_dtype))
    changed.leaves[index].dtype = other
    return changed


# --- requests -------------------------------------------------------------------


def requests(case: Case, spec: Spec, ours: bool) -> list[dict[str, Any]]:
    """The case with all shapes known, with some, and with none.

    TensorFlow runs a valid case once; here the kernels chosen for known and for unknown
    shapes are not always the same, so both run.
    """
    return [
        request(case, spec, known, run=known == "all" or run_unknown(case, known, ours))
        for known in VARIANTS
    ]


def run_unknown(case: Case, known: str, ours: bool) -> bool:
    """Whether the variant that knows nothing has its values compared."""
    return known == "none" and (ours or case.kind != "valid")


def request(case: Case, spec: Spec, known: str, run: bool) -> dict[str, Any]:
    """As `batch_runner` reads it."""
    program = case.program
    outputs = [ref.name for ref in program.outputs()]
    steps = [plain_step(program, step, known) for step in program.steps] if run else []
    valid = case.kind == "valid" and spec.gradient and program.differentiate
    xs, ys = gradient_ends(program) if run and valid else ([], [])
    return {
        "graph": program.graph_def(known),
        "outputs": outputs,
        "steps": steps,
        "ys": ys if xs else [],
        "xs": xs,
        "alone": case.kind != "valid" or spec.alone or len(steps) > 1,
    }


def plain_step(program: Program, step: Step, known: str) -> Any:
    """Feeds, fetches and targets; handles and the like are targets."""
    refs = {ref.name: ref for ref in program.outputs()}
    readable = [n for n in step.fetches if is_readable(refs[n])]
    others = [n.rpartition(":")[0] for n in step.fetches if not is_readable(refs[n])]
    return (program.feeds(known, step), readable, [*step.targets, *others])


def is_readable(ref: Ref) -> bool:
    """Whether a fetched value can be told to another process."""
    return ref.dtype.base_dtype.name not in ("resource", "variant")


def gradient_ends(program: Program) -> tuple[list[str], list[str]]:
    """The inputs and outputs that may have gradients."""
    xs = [
        f"{leaf.name}:0"
        for leaf in program.leaves
        if not (leaf.const or leaf.always)
        and (leaf.dtype.is_floating or leaf.dtype.is_complex)
    ]
    refs = {ref.name: ref for ref in program.outputs()}
    ys = [
        name
        for name in program.steps[0].fetches
        if refs[name].dtype.is_floating or refs[name].dtype.is_complex
    ]
    return (xs, ys) if xs and ys else ([], [])


# --- judgement ------------------------------------------------------------------


def judge(
    spec: Spec,
    case: Case,
    asked: list[dict[str, Any]],
    ours: list[Any],
    theirs: list[Any],
    result: OpResult,
) -> None:
    """Compares the three variants of a case."""
    cell = result.cells[case.cell]
    if any(answer is None for answer in theirs):
        result.crashes.append(f"{case.cell} {case.kind}")
        return
    if not cell.kernel:
        return
    if case.kind == "valid":
        judge_valid(spec, case, asked, ours, theirs, result)
    elif not compare.no_kernel(theirs[0]):
        for known, mine, real in zip(VARIANTS, ours, theirs, strict=True):
            lines = compare.step_differences(mine, real, spec, invalid=True)
            cell.add("errors", [f"{case.kind} ({known}): {line}" for line in lines])


def judge_valid(
    spec: Spec,
    case: Case,
    asked: list[dict[str, Any]],
    ours: list[Any],
    theirs: list[Any],
    result: OpResult,
) -> None:
    """Values, static shapes and gradients."""
    cell = result.cells[case.cell]
    if compare.no_kernel(theirs[0]):
        cell.kernel = False
        return
    if compare.outcome(theirs[0]) != ("fine",) and len(case.program.steps) == 1:
        told = f"{case.cell}: TensorFlow refuses the case: {compare.message(theirs[0])}"
        result.problems.append(told)
        return
    told = describe(case.program)
    for known, mine, real in zip(VARIANTS, ours, theirs, strict=True):
        lines = compare.static_differences(mine, real)
        cell.add("shapes", [f"({known}) {line} {told}" for line in lines])
        if known == "part" or (mine["error"] and real["error"]):
            continue
        lines = compare.step_differences(mine, theirs[0], spec)
        cell.add("values", [f"({known}) {line} {told}" for line in lines])
        # What fails for known shapes may not fail for unknown ones.
        expected = theirs[0]["gradient"]
        if known == "none" and expected and "error" in (mine["gradient"] or {}):
            continue  # see recheck
        if expected is not None and (known == "all" or "error" not in expected):
            lines = compare.gradient_differences(
                mine["gradient"], expected, spec, loose=known == "none"
            )
            cell.add("gradient", [f"({known}) {line} {told}" for line in lines])
    result.goldens.append({"cell": case.cell, "case": asked[0], "answer": theirs[0]})


def recheck(
    spec: Spec,
    case: Case,
    peer: OpPeer,
    ours: list[Any],
    theirs: list[Any],
    result: OpResult,
) -> None:
    """A gradient that fails for unknown shapes should fail in TensorFlow too."""
    mine = ours[-1]["gradient"] or {}
    usable = theirs[0] is not None and theirs[0]["gradient"] is not None
    if case.kind != "valid" or "error" not in mine or not usable:
        return
    if not result.cells[case.cell].kernel:
        return
    (answer,) = peer.answers([request(case, spec, "none", run=True)])
    if answer is not None and answer["gradient"] is not None:
        lines = compare.gradient_differences(mine, answer["gradient"], spec)
        told = describe(case.program)
        cell = result.cells[case.cell]
        cell.add("gradient", [f"(none) {line} {told}" for line in lines])


def describe(program: Program) -> str:
    """The program in a line, for messages."""
    leaves = ", ".join(describe_leaf(leaf) for leaf in program.leaves)
    nodes = "; ".join(
        f"{node.op}({', '.join(node.inputs)}"
        + "".join(f", {k}={v!s:.60}" for k, v in node.attrs.items())
        + ")"
        for node in program.nodes[:4]
    )
    return f"<- {leaves}: {nodes}"


def describe_leaf(leaf: Any) -> str:
    """Small values whole."""
    shown = copy.copy(leaf.value)
    if shown.size <= 6:
        return f"{leaf.name}={shown.tolist()} {leaf.dtype.name}{list(shown.shape)}"
    return f"{leaf.name}={leaf.dtype.name}{list(shown.shape)}"
