"""Which expressions of a program are names of TensorFlow, and what they are here."""

from __future__ import annotations

import ast
import importlib
import inspect
from types import ModuleType
from typing import Any, Final

from tensorloom.compat.module_paths import finder
from tensorloom.framework import export

MISSING: Final = object()
# What stands for the package itself.
_ROOTS: Final = (
    "tensorflow.compat.v1",
    "tensorflow_core._api.v1",
    *finder.ALIASES,
    "tensorloom",
)


def aliases_of(tree: ast.AST) -> dict[str, str]:
    """The names that stand for TensorFlow's modules: "" for tf, "nn" for tf.nn."""
    names = _Names()
    names.visit(tree)
    return names.aliases


class _Names(ast.NodeVisitor):
    """Which names of a program stand for which names of TensorFlow."""

    def __init__(self) -> None:
        self.aliases: dict[str, str] = {}

    def visit_Import(self, node: ast.Import) -> None:
        """`import tensorflow.x as y`"""
        for item in node.names:
            inner = inner_name(item.name)
            if inner is None:
                continue
            if item.asname:
                self.aliases[item.asname] = inner
            else:
                self.aliases[item.name.partition(".")[0]] = ""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """`from tensorflow.x import y`"""
        inner = inner_name(node.module or "") if not node.level else None
        if inner is None:
            return
        for item in node.names:
            name = f"{inner}.{item.name}" if inner else item.name
            self.aliases[item.asname or item.name] = simple_name(name)

    def visit_Assign(self, node: ast.Assign) -> None:
        """`layers = tf.layers`"""
        self.generic_visit(node)
        name = _imported(node.value)
        if name is None:
            name = dotted(node.value, self.aliases)
        target = node.targets[0]
        if (
            name is not None
            and len(node.targets) == 1
            and isinstance(target, ast.Name)
            and isinstance(find(name)[0], ModuleType)
        ):
            self.aliases[target.id] = name


def _imported(node: ast.AST) -> str | None:
    """`nn` of `importlib.import_module("tensorflow.nn")`; None for others."""
    if not isinstance(node, ast.Call) or len(node.args) != 1:
        return None
    function, module = node.func, node.args[0]
    called = getattr(function, "attr", getattr(function, "id", None))
    if called != "import_module" or not isinstance(module, ast.Constant):
        return None
    return inner_name(module.value) if isinstance(module.value, str) else None


def inner_name(module: str) -> str | None:
    """`nn` of `tensorflow.nn`; None for other packages."""
    for root in _ROOTS:
        if module == root:
            return ""
        if module.startswith(root + "."):
            return simple_name(module[len(root) + 1 :])
    return None


def simple_name(name: str) -> str:
    """Without `compat.v1`, which is the whole."""
    while name == "compat.v1" or name.startswith("compat.v1."):
        name = name[len("compat.v1.") :]
    return name


def dotted(node: ast.AST, aliases: dict[str, str]) -> str | None:
    """The name of TensorFlow that an expression is; None for others."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in aliases:
        return None
    start = aliases[node.id]
    return simple_name(".".join([*([start] if start else []), *reversed(parts)]))


def find(name: str) -> tuple[Any, str]:
    """What a name is here, and the first part of it that is missing.

    Beyond modules and classes nothing is looked up: objects have their attributes when
    the program runs.
    """
    value: Any = importlib.import_module("tensorloom")
    parts = name.split(".") if name else []
    for i, part in enumerate(parts):
        if not (isinstance(value, ModuleType) or inspect.isclass(value)):
            return value, ""
        found = _attribute(value, part)
        if found is MISSING:
            return MISSING, ".".join(parts[: i + 1])
        value = found
    return value, ""


def _attribute(value: Any, name: str) -> Any:
    if isinstance(value, ModuleType) and _is_private(value, name):
        return _private_attribute(value, name)
    # Modules of the implementation that are no public names, such as tf.framework.
    if isinstance(value, ModuleType) and name not in _public_names(value):
        try:
            found = getattr(value, name)
        except AttributeError:
            return MISSING
        hidden = _is_implementation(found)
        return MISSING if hidden or name.startswith("_tl") else found
    return getattr(value, name, MISSING)


def _is_implementation(value: Any) -> bool:
    """Whether a value is a file of ours; `tf.test.mock` and `tf.compat.v2` are not."""
    return (
        isinstance(value, ModuleType)
        and value.__name__.partition(".")[0] == finder.ROOT
        and getattr(value, "__file__", None) is not None
    )


def _is_private(module: ModuleType, name: str) -> bool:
    """Whether a name is below tensorflow.python, tf.contrib and the like."""
    root, _, path = module.__name__.partition(".")
    first = path.partition(".")[0] if path else name
    return root == finder.ROOT and first in finder.PRIVATE


def _private_attribute(module: ModuleType, name: str) -> Any:
    """What a module path gives: by the table, or by a package of ours."""
    try:
        return getattr(module, name)
    except (AttributeError, ImportError):
        pass
    try:
        return importlib.import_module(f"{module.__name__}.{name}")
    except ImportError:
        return MISSING


def _public_names(module: ModuleType) -> frozenset[str]:
    """The public names of a module, by the table of exports."""
    if not _PUBLIC:
        for name in export.names():
            parts = name.split(".")
            for i, part in enumerate(parts):
                _PUBLIC.setdefault(".".join(parts[:i]), set()).add(part)
        _PUBLIC[""] |= {"compat", "raw_ops", "test", "summary"}
    path = module.__name__.removeprefix("tensorloom").lstrip(".")
    return frozenset(_PUBLIC.get(path, ()))


_PUBLIC: dict[str, set[str]] = {}
