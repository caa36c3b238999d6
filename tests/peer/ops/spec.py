"""What a spec is, and the registry of all specs.

A spec says how to draw valid programs with one op, for which dtypes, and how exact its
results are. See README.md in this folder.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.registry import op_registry
from tensorloom.framework.types import dtypes
from tests.peer.ops import program as programs
from tests.peer.ops.draw import Draw, Value
from tests.peer.ops.program import Program

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType

# Attrs that choose the dtype of a row of cells, the first that the op has.
DTYPE_ATTRS = ("T", "dtype", "Tparams", "out_type", "output_type", "Tidx", "DstT")
ALL_TYPES = tuple(
    getattr(dtypes, name)
    for name in [
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "complex64",
        "complex128",
        "bool",
        "string",
        "qint8",
        "quint8",
        "qint32",
    ]
)
MUTATIONS = ("rank", "size", "empty", "integer", "dtype")


@dataclass(frozen=True)
class Tolerance:
    """How far floating-point results may be apart, and why if that is far.

    relative, absolute: None is the default of the dtype; `absolute` is scaled with
    the largest magnitude of the result.
    """

    relative: float | None = None
    absolute: float | None = None
    reason: str = ""
    widened: float = 1.0  # a factor for 16-bit types


@dataclass(frozen=True)
class Call:
    """One node: inputs in order (arrays, Values, lists of these) and attrs."""

    inputs: tuple[Any, ...]
    attrs: dict[str, Any]


def call(*inputs: Any, **attrs: Any) -> Call:
    """A case that is one node of the spec's op."""
    return Call(inputs, attrs)


Make = Callable[[Draw], "Call | Program | tuple[Any, ...]"]
Canonical = Callable[[list[Any]], list[Any]]


@dataclass(frozen=True)
class Known:
    """A difference that stays, and why."""

    reason: str
    aspects: tuple[str, ...] = ("values", "shapes", "gradient", "errors")
    cells: tuple[str, ...] = ()  # all if empty


@dataclass
class Spec:
    """How one op is compared."""

    op: str
    make: Make
    family: str
    dtypes: tuple[DType, ...]  # empty: a single cell
    attr: str  # that holds the cell's dtype
    gradient: bool = True
    tolerance: Tolerance = field(default_factory=Tolerance)
    mutate: tuple[str, ...] = MUTATIONS
    bad: tuple[Make, ...] = ()
    known: tuple[Known, ...] = ()
    canonical: Canonical | None = None
    examples: int = 3  # of each cell and seed
    alone: bool = False
    version: str = ""  # of TensorFlow, where it is not the oldest that has the op
    producer: int = programs.PRODUCER  # the version of the graph, for ops removed since

    def cells(self) -> dict[str, DType | None]:
        """The cells by name."""
        return {dtype.name: dtype for dtype in self.dtypes} or {"-": None}

    def program(self, draw: Draw, make: Make | None = None) -> Program:
        """The program of one case."""
        made = (make or self.make)(draw)
        if isinstance(made, Program):
            return made
        if isinstance(made, tuple):
            made = Call(made, {})
        program = Program(self.producer)
        inputs = [as_refs(program, one) for one in made.inputs]
        attrs = dict(made.attrs)
        if self.dtypes and self.attr in programs.find(self.op).attrs:
            attrs.setdefault(self.attr, draw.dtype)
        program.run(program.op(self.op, *inputs, **attrs))
        return program

    def reason(self, aspect: str, cell: str) -> str:
        """Why a difference there is known; empty if it is not."""
        for known in self.known:
            if aspect in known.aspects and (not known.cells or cell in known.cells):
                return known.reason
        return ""


def as_refs(program: Program, one: Any) -> Any:
    """An input of a Call as leaves of the program."""
    if isinstance(one, list) and any(isinstance(i, np.ndarray | Value) for i in one):
        return [as_refs(program, item) for item in one]
    if isinstance(one, list) and not one:
        return []
    if isinstance(one, Value):
        return program.feed(one.value, one.dtype, one.const, one.always)
    return program.feed(one)


SPECS: dict[str, Spec] = {}


def spec(
    ops: str,
    make: Make,
    *,
    types: Sequence[Any] | None = None,
    attr: str | None = None,
    without: Sequence[Any] = (),
    known: Mapping[str, str] | Sequence[Known] = (),
    **options: Any,
) -> None:
    """Adds a spec for each op of the space-separated list.

    Args:
      ops: op types.
      make: draws one valid case: returns inputs, a `call(...)` or a Program.
      types: the dtypes of the cells; by default all that the op's `attr` allows.
        `()`: one cell.
      attr: the attr that holds them; by default "T", "dtype", ... .
      without: dtypes to leave out of `types`.
      known: differences that stay: {"values float16": "reason"} ("values", "shapes",
        "gradient", "errors", or "all", then cells; no cells: all of them).
      options: the other fields of `Spec`.
    """
    leave = [dtypes.as_dtype(one) for one in without]
    explained = known_list(known) if isinstance(known, Mapping) else tuple(known)
    caller = sys._getframe(1)
    while caller.f_code.co_name != "<module>" and caller.f_back is not None:
        caller = caller.f_back
    family = caller.f_globals["__name__"].split(".")[-2]
    for op in ops.split():
        if op in SPECS:
            raise ValueError(f"{op} has two specs")
        held = attr or dtype_attr(op)
        found = allowed_types(op, held) if types is None else types
        cells = tuple(t for t in map(dtypes.as_dtype, found) if t not in leave)
        SPECS[op] = Spec(op, make, family, cells, held, known=explained, **options)


def known_list(known: Mapping[str, str]) -> tuple[Known, ...]:
    """The short form of known differences taken apart."""
    told = []
    for where, reason in known.items():
        first, *cells = where.split()
        aspects = Known.aspects if first == "all" else tuple(first.split(","))
        told.append(Known(reason, aspects, tuple(cells)))
    return tuple(told)


def dtype_attr(op: str) -> str:
    """The attr whose values are the op's cells; empty if there is none."""
    op_def = op_registry.find(op)
    if op_def is None:
        return ""
    for name in DTYPE_ATTRS:
        if name in op_def.attrs and op_def.attrs[name].type == "type":
            return name
    return next((a.name for a in op_def.attrs.values() if a.type == "type"), "")


def allowed_types(op: str, attr: str) -> tuple[DType, ...]:
    """The dtypes that an op's definition allows for that attr."""
    op_def = op_registry.find(op)
    if op_def is None or not attr:
        return ()
    allowed = op_def.attrs[attr].allowed
    return ALL_TYPES if allowed is None else tuple(t for t in allowed if t in ALL_TYPES)


def load() -> dict[str, Spec]:
    """All specs, by op."""
    import tensorloom
    from tests.peer.ops import specs

    assert tensorloom
    for module in pkgutil.walk_packages(specs.__path__, f"{specs.__name__}."):
        importlib.import_module(module.name)
    return SPECS
