"""Will this program run here? The names of `tf.*` that it uses, found without running.

The syntax tree is walked: imports of TensorFlow and assignments of its modules are
followed, every dotted name is looked up in `tensorloom`, and the keyword arguments of
calls are compared with the signatures.
"""

from __future__ import annotations

import ast
import difflib
import importlib
import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Final

from tensorloom.framework.export import exports
from tensorloom.inspect.findings import ERROR, WARNING, Finding

_MISSING: Final = object()
# What stands for the package itself.
_ROOTS: Final = ("tensorflow.compat.v1", "tensorflow", "tensorloom")
# Packages that bring the real TensorFlow with them.
_COMPANIONS: Final = frozenset(
    [
        *("keras", "tensorflow_addons", "tensorflow_datasets", "tensorflow_estimator"),
        *("tensorflow_hub", "tensorflow_probability", "tensorflow_text", "tf_slim"),
        *("sonnet", "tensor2tensor", "trfl", "dm_control", "tf_keras"),
    ]
)
# Names of TensorFlow 2, and of contrib, with what 1.15 has for them.
_REPLACEMENTS: Final = {
    "contrib.layers.xavier_initializer": "tf.glorot_uniform_initializer",
    "contrib.layers.variance_scaling_initializer": "tf.variance_scaling_initializer",
    "contrib.layers.fully_connected": "tf.layers.dense",
    "contrib.layers.conv2d": "tf.layers.conv2d",
    "contrib.layers.max_pool2d": "tf.layers.max_pooling2d",
    "contrib.layers.batch_norm": "tf.layers.batch_normalization",
    "contrib.layers.dropout": "tf.layers.dropout",
    "contrib.layers.flatten": "tf.layers.flatten",
    "contrib.layers.l2_regularizer": "tf.nn.l2_loss",
    "contrib.rnn": "tf.nn.rnn_cell",
    "contrib.lookup": "tf.lookup",
    "contrib.data": "tf.data.experimental",
    "contrib.summary": "tf.summary",
    "GradientTape": "tf.gradients",
    "Module": "tf.variable_scope",
    "autograph": "tf.cond and tf.while_loop",
    "keras.layers.Dense": "tf.layers.dense",
    "keras.layers.Conv2D": "tf.layers.conv2d",
    "keras.optimizers.Adam": "tf.train.AdamOptimizer",
    "optimizers.Adam": "tf.train.AdamOptimizer",
    "optimizers.SGD": "tf.train.GradientDescentOptimizer",
    "random.normal": "tf.random_normal",
    "saved_model.load_v2": "tf.saved_model.load(sess, tags, export_dir)",
    "saved_model.save": "tf.saved_model.simple_save",
}


def audit_program(source: bytes, filename: str) -> list[Finding]:
    """What a program uses that is not here."""
    try:
        tree = ast.parse(source, filename)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        return [
            Finding(ERROR, "syntax", f"{filename}:{line}", f"not Python 3: {error}")
        ]
    names = _Names()
    names.visit(tree)
    auditor = _Auditor(names.aliases, filename)
    auditor.visit(tree)
    return _merged(auditor.findings)


def _merged(findings: list[Finding]) -> list[Finding]:
    """One finding for each subject and message, at its first line."""
    merged: dict[tuple[str, str], Finding] = {}
    for finding in findings:
        key = (finding.subject, finding.message)
        first = merged.get(key)
        count = finding.count + (first.count if first else 0)
        base = first or finding
        merged[key] = Finding(
            base.severity, base.subject, base.where, base.message, base.remedy, count
        )
    return list(merged.values())


class _Names(ast.NodeVisitor):
    """Which names of a program stand for which names of TensorFlow."""

    def __init__(self) -> None:
        self.aliases: dict[str, str] = {}  # name -> "" for tf, "nn" for tf.nn

    def visit_Import(self, node: ast.Import) -> None:
        """`import tensorflow.x as y`"""
        for item in node.names:
            inner = _inner(item.name)
            if inner is None:
                continue
            if item.asname:
                self.aliases[item.asname] = inner
            else:
                self.aliases[item.name.partition(".")[0]] = ""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """`from tensorflow.x import y`"""
        inner = _inner(node.module or "") if not node.level else None
        if inner is None:
            return
        for item in node.names:
            name = f"{inner}.{item.name}" if inner else item.name
            self.aliases[item.asname or item.name] = _simple(name)

    def visit_Assign(self, node: ast.Assign) -> None:
        """`layers = tf.layers`"""
        self.generic_visit(node)
        name = dotted(node.value, self.aliases)
        target = node.targets[0]
        if (
            name is not None
            and len(node.targets) == 1
            and isinstance(target, ast.Name)
            and isinstance(_find(name)[0], ModuleType)
        ):
            self.aliases[target.id] = name


def _inner(module: str) -> str | None:
    """`nn` of `tensorflow.nn`; None for other packages."""
    for root in _ROOTS:
        if module == root:
            return ""
        if module.startswith(root + "."):
            return _simple(module[len(root) + 1 :])
    return None


def _simple(name: str) -> str:
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
    return _simple(".".join([*([start] if start else []), *reversed(parts)]))


def _find(name: str) -> tuple[Any, str]:
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
        if found is _MISSING:
            return _MISSING, ".".join(parts[: i + 1])
        value = found
    return value, ""


def _attribute(value: Any, name: str) -> Any:
    # Modules of the implementation that are no public names, such as tf.framework.
    if isinstance(value, ModuleType) and name not in _public_names(value):
        try:
            found = getattr(value, name)
        except AttributeError:
            return _MISSING
        hidden = isinstance(found, ModuleType)
        return _MISSING if hidden or name.startswith("_tl") else found
    return getattr(value, name, _MISSING)


def _public_names(module: ModuleType) -> frozenset[str]:
    """The public names of a module, by the table of exports."""
    if not _PUBLIC:
        for name in exports():
            parts = name.split(".")
            for i, part in enumerate(parts):
                _PUBLIC.setdefault(".".join(parts[:i]), set()).add(part)
        _PUBLIC[""] |= {"compat", "raw_ops", "test", "summary"}
    path = module.__name__.removeprefix("tensorloom").lstrip(".")
    return frozenset(_PUBLIC.get(path, ()))


_PUBLIC: dict[str, set[str]] = {}


def replacement(name: str) -> str:
    """The nearest name that there is, as a phrase; "" when nothing is near."""
    parts = name.split(".")
    for i in range(len(parts), 0, -1):
        known = _REPLACEMENTS.get(".".join(parts[:i]))
        if known:
            return f"nearest: {known}"
    public = exports()
    last = parts[-1]
    same = [one for one in public if one.rpartition(".")[2] == last]
    near = sorted(same, key=len)[:3] or difflib.get_close_matches(name, public, 3, 0.8)
    if near:
        return "nearest: " + ", ".join(f"tf.{one}" for one in near)
    if parts[0] == "contrib":
        return "tf.contrib is not part of tensorloom; copy what you need of it"
    if parts[0] == "python":
        return "tensorflow.python is private: use the public tf.* names"
    return ""


class _Auditor(ast.NodeVisitor):
    """Looks up every use of a name of TensorFlow."""

    def __init__(self, aliases: dict[str, str], filename: str) -> None:
        self.findings: list[Finding] = []
        self._aliases = aliases
        self._filename = filename

    def _where(self, node: ast.AST) -> str:
        return f"{self._filename}:{getattr(node, 'lineno', 1)}"

    def _check(self, name: str, node: ast.AST) -> Any:
        value, missing = _find(name)
        if missing:
            self.findings.append(
                Finding(
                    ERROR,
                    f"tf.{missing}",
                    self._where(node),
                    f"there is no tf.{name}",
                    replacement(name),
                )
            )
        return value

    def visit_Import(self, node: ast.Import) -> None:
        """Imports of TensorFlow's modules and of packages around it."""
        for item in node.names:
            inner = _inner(item.name)
            if inner:
                self._check(inner, node)
            self._check_companion(item.name, node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """As `visit_Import`, for `from`."""
        if node.level:
            return
        module = node.module or ""
        self._check_companion(module, node)
        inner = _inner(module)
        if inner is None:
            return
        for item in node.names:
            name = _simple(f"{inner}.{item.name}" if inner else item.name)
            if name and item.name != "*" and name != "compat":
                self._check(name, node)

    def _check_companion(self, module: str, node: ast.AST) -> None:
        package = module.partition(".")[0]
        if package in _COMPANIONS:
            self.findings.append(
                Finding(
                    WARNING,
                    package,
                    self._where(node),
                    f"{package} imports TensorFlow itself",
                    "replace it, or run it with `tensorloom run` if it keeps to "
                    "public names",
                )
            )

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """A dotted name, looked up whole."""
        name = dotted(node, self._aliases)
        if name is None:
            self.generic_visit(node)
        elif name:
            self._check(name, node)

    def visit_Call(self, node: ast.Call) -> None:
        """A call: its name, and the keywords that it passes."""
        name = dotted(node.func, self._aliases)
        if name:
            value = self._check(name, node.func)
            self.findings += self._keywords(name, value, node)
        else:
            self.visit(node.func)
        for child in (*node.args, *node.keywords):
            self.visit(child)

    def _keywords(self, name: str, value: Any, node: ast.Call) -> Iterator[Finding]:
        if value is _MISSING or not callable(value) or "pb2" in _module(value):
            return
        try:
            parameters = inspect.signature(value).parameters
        except (TypeError, ValueError):
            return
        if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
            return
        for keyword in node.keywords:
            if keyword.arg is not None and keyword.arg not in parameters:
                near = difflib.get_close_matches(keyword.arg, parameters, 2, 0.6)
                yield Finding(
                    ERROR,
                    f"tf.{name}",
                    self._where(node),
                    f"tf.{name} has no argument '{keyword.arg}'",
                    f"nearest: {', '.join(near)}" if near else "",
                )


def _module(value: Any) -> str:
    return str(getattr(value, "__module__", ""))
