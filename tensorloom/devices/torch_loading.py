"""Importing torch without the parts that no kernel calls.

A third of `import torch` goes to rules for shapes without values, which tracing and
compiling need, and to its quantization tools. They are left out here, and loaded when
somebody asks for them: tools by their names, rules with the first module that traces.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from tensorloom.devices import thread_waits

if TYPE_CHECKING:
    from importlib.abc import MetaPathFinder
    from importlib.machinery import ModuleSpec
else:  # importing `importlib.abc` takes longer than the rest of this module
    MetaPathFinder = object

# The versions whose imports were looked at; others are imported whole.
_KNOWN_VERSIONS: Final = ("2.13.",)
_RULES: Final = "torch._meta_registrations"
_TOOLS: Final = (
    *("torch.ao", "torch.quantization", "torch.nn.intrinsic", "torch.nn.qat"),
    *("torch.nn.quantizable", "torch.nn.quantized"),
)
# Modules that trace: the rules are loaded before them.
_TRACING: Final = frozenset(
    {
        *("torch._dynamo", "torch._inductor", "torch._export.serde"),
        *("torch._decomp", "torch._refs"),
    }
)


class _Later(ModuleType):
    """Stands for a module of torch until somebody asks for something in it."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(importlib.import_module(self.__name__), name)


class _RulesFirst(MetaPathFinder):
    """Loads the rules when the first module that traces is imported."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        if fullname in _TRACING:
            sys.meta_path.remove(self)
            importlib.import_module(_RULES)
        return None


def import_torch() -> None:
    """Imports torch, unless it is there, without what kernels do not need."""
    if "torch" in sys.modules:
        return
    with thread_waits.limited():
        _import_torch()


def _import_torch() -> None:
    from importlib import metadata  # reads mail headers: a dozen modules

    version = metadata.version("torch")
    if not version.startswith(_KNOWN_VERSIONS):
        importlib.import_module("torch")
        return
    later = {name: _Later(name) for name in (_RULES, *_TOOLS)}
    sys.modules.update(later)
    try:
        importlib.import_module("torch")
    finally:
        for name, module in later.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]
    _give_generators_their_class()
    for name in _TOOLS:
        parent, _, last = name.rpartition(".")
        setattr(sys.modules[parent], last, later[name])
    sys.meta_path.insert(0, _RulesFirst())


def _give_generators_their_class() -> None:
    """What the rules do on their way: without it no `torch.Generator` can be made."""
    base = importlib.import_module("torch._opaque_base").OpaqueBaseMeta
    importlib.import_module("torch")._C._set_generator_metaclass(base)
