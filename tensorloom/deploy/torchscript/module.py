"""The source of a program as a module of torch."""

from __future__ import annotations

import itertools
import keyword
import linecache
import re
import typing
from typing import TYPE_CHECKING, Any, Final

import torch

from tensorloom.deploy.program import Refusal, refused
from tensorloom.deploy.torchscript import (  # noqa: F401  (they fill the table)
    arrays,
    control,
    elementwise,
    helpers,
    layers,
)
from tensorloom.deploy.torchscript.source import TORCH_TYPES, Block, Source

if TYPE_CHECKING:
    from tensorloom.deploy.program import Program

_NUMBERS: Final = itertools.count()
_HELPERS: Final = {
    name: value for name, value in vars(helpers).items() if not name.startswith("_")
}


def argument(key: str) -> str:
    """A key of an input as the name of an argument."""
    name = re.sub(r"\W", "_", key)
    reserved = keyword.iskeyword(name) or name in (*_HELPERS, "self")
    return f"input_{name}" if reserved or name[:1].isdigit() else name


def source_of(program: Program) -> tuple[str, dict[str, Any]]:
    """The source of `forward`, and the constants that it reads by `self`.

    Raises:
      errors.UnimplementedError: nodes cannot be written; the message has all of them.
    """
    source = Source(program.graph)
    nodes = program.graph.nodes
    arguments = sorted(
        (node for node in nodes.values() if node.op == "_Arg"),
        key=lambda node: int(node.attrs["index"]),
    )
    results = sorted(
        (node for node in nodes.values() if node.op == "_Retval"),
        key=lambda node: int(node.attrs["index"]),
    )
    names = [argument(key) for key, _, _ in program.inputs]
    for key, dtype, _ in program.inputs:
        if dtype not in TORCH_TYPES:
            reason = f"torch has no tensors of {dtype.name}"
            source.refusals.append(Refusal(key, "input", reason))
    values = {(node.name, 0): name for node, name in zip(arguments, names, strict=True)}
    block = Block(source, nodes, values)
    block.write()
    if source.refusals:
        raise refused("TorchScript", source.refusals)
    parts = [
        f"{key!r}: {block.values[results[at].inputs[0]]}" for key, at in program.outputs
    ]
    source.add(f"return {{{', '.join(parts)}}}")
    source.drop_unread()
    given = "".join(f", {name}: Tensor" for name in names)
    head = f"def forward(self{given}) -> Dict[str, Tensor]:"
    return "\n".join([head, *source.lines, ""]), source.constants


def module_of(program: Program) -> torch.nn.Module:
    """The program as a module: it runs, and can be scripted and traced."""
    text, constants = source_of(program)
    # Who compiles it asks for its source.
    file = f"<tensorloom program {next(_NUMBERS)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    namespace: dict[str, Any] = {**_HELPERS, "Dict": typing.Dict}  # noqa: UP006
    exec(compile(text, file, "exec"), namespace)
    kind = type("Program", (torch.nn.Module,), {"forward": namespace["forward"]})
    module: torch.nn.Module = kind()
    for name, array in constants.items():
        module.register_buffer(name, torch.from_numpy(array.copy()))
    module.eval()
    return module


def script(program: Program) -> Any:
    """The program as a ScriptModule."""
    return torch.jit.script(module_of(program))
