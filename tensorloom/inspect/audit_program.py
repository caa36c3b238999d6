"""Will this program run here? The names of `tf.*` that it uses, found without running.

The syntax tree is walked: imports of TensorFlow and assignments of its modules are
followed, every dotted name is looked up in `tensorloom`, and the arguments of calls are
compared with the signatures.
"""

from __future__ import annotations

import ast
import contextlib
import difflib
import importlib
import inspect
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from tensorloom.client.program.arg_scope import has_arg_scope
from tensorloom.compat.legacy import python2
from tensorloom.compat.module_paths import path_module, table
from tensorloom.framework import export
from tensorloom.inspect.findings import ERROR, WARNING, Finding
from tensorloom.inspect.program_names import (
    MISSING,
    aliases_of,
    dotted,
    find,
    inner_name,
    simple_name,
)

# Packages that bring the real TensorFlow with them.
_COMPANIONS: Final = frozenset(
    [
        *("keras", "tensorflow_addons", "tensorflow_datasets"),
        *("tensorflow_hub", "tensorflow_probability", "tensorflow_text", "tf_slim"),
        *("sonnet", "tensor2tensor", "trfl", "dm_control", "tf_keras"),
    ]
)
_ERRORS_OF_ABSENCE: Final = frozenset(
    [
        *("AttributeError", "BaseException", "Exception", "ImportError"),
        "ModuleNotFoundError",
    ]
)
_VERSIONS: Final = frozenset(["VERSION", "__version__"])
# Functions that are there to say what they cannot do.
_REFUSED: Final = frozenset(
    [
        *("enable_eager_execution", "enable_v2_behavior"),
        "config.experimental_connect_to_host",
        "config.experimental_connect_to_cluster",
    ]
)
# Names of TensorFlow 2, and of contrib, with what 1.15 has for them.
_REPLACEMENTS: Final = {
    "contrib.eager": "a graph and tf.Session",
    "contrib.rnn": "tf.nn.rnn_cell",
    "contrib.lookup": "tf.lookup",
    "GradientTape": "tf.gradients",
    "Module": "tf.variable_scope",
    "enable_eager_execution": "a graph and tf.Session",
    "enable_v2_behavior": "a graph and tf.Session",
    "config.experimental_connect_to_host": "tf.Session with a server's target",
    "config.experimental_connect_to_cluster": "tf.Session with a server's target",
    "keras.layers.Dense": "tf.layers.dense",
    "keras.layers.Conv2D": "tf.nn.conv2d",
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
        remedy = ""
        if isinstance(error, SyntaxError):
            remedy = python2.message_for(error, source.decode("utf-8", "replace"))
        where, text = f"{filename}:{line}", f"not Python 3: {error}"
        return [Finding(ERROR, "syntax", where, text, remedy)]
    auditor = _Auditor(aliases_of(tree), filename)
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
        places = (*(first.places if first else ()), finding.where)
        merged[key] = replace(base, count=count, places=places)
    return list(merged.values())


def _catches_absence(handler: ast.ExceptHandler) -> bool:
    """Whether a handler gets the error of a module or attribute that is missing."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = {getattr(k, "id", None) for k in kinds if k is not None}
    return handler.type is None or bool(names & _ERRORS_OF_ABSENCE)


def _test_of_names(test: ast.AST) -> str:
    """How a condition asks what there is; "" if it does not."""
    for node in ast.walk(test):
        if isinstance(node, ast.Name) and node.id == "hasattr":
            return "the program asks with hasattr"
        if isinstance(node, ast.Attribute) and node.attr in _VERSIONS:
            return "the program asks for the version"
    return ""


def _arguments(arguments: ast.arguments) -> Iterator[ast.arg]:
    yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    yield from filter(None, (arguments.vararg, arguments.kwarg))


def _defaults(arguments: ast.arguments) -> Iterator[ast.AST]:
    yield from (*arguments.defaults, *filter(None, arguments.kw_defaults))
    yield from (a.annotation for a in _arguments(arguments) if a.annotation)


def _near_in_contrib(package: list[str]) -> str:
    """The packages of tf.contrib that are called alike."""
    known = dir(importlib.import_module("tensorloom.contrib"))
    near = difflib.get_close_matches(package[0], known, 3) if package else []
    if near:
        return "nearest: " + ", ".join(f"tf.contrib.{one}" for one in near)
    return "this part of tf.contrib is not here; copy what you need of it"


def replacement(name: str) -> str:
    """The nearest name that there is, as a phrase; "" when nothing is near."""
    parts = name.split(".")
    for i in range(len(parts), 0, -1):
        known = _REPLACEMENTS.get(".".join(parts[:i]))
        if known:
            return f"nearest: {known}"
    public = export.names()
    last = parts[-1]
    same = [one for one in public if one.rpartition(".")[2] == last]
    near = sorted(same, key=len)[:3] or difflib.get_close_matches(name, public, 3, 0.8)
    if near:
        return "nearest: " + ", ".join(f"tf.{one}" for one in near)
    if parts[0] == "contrib":
        return _near_in_contrib(parts[1:2])
    if table.is_path(".".join(parts[:-1])):
        listed = path_module.nearest(".".join(parts[:-1]), last)
        return f"nearest: {', '.join(listed)}" if listed else ""
    return ""


class _Auditor(ast.NodeVisitor):
    """Looks up every use of a name of TensorFlow."""

    def __init__(self, aliases: dict[str, str], filename: str) -> None:
        self.findings: list[Finding] = []
        self._aliases = aliases
        self._filename = filename
        self._guard = ""  # how the program provides for a name that is missing

    @contextlib.contextmanager
    def _guarded(self, how: str) -> Iterator[None]:
        """What is missing in the block is a warning: the program goes on without."""
        outer, self._guard = self._guard, how or self._guard
        yield
        self._guard = outer

    def _visit_all(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)

    def visit_Try(self, node: ast.Try) -> None:
        """`try: import x` with a handler for its absence."""
        caught = any(_catches_absence(handler) for handler in node.handlers)
        with self._guarded("the program catches the error" if caught else ""):
            self._visit_all(node.body)
        self._visit_all((*node.handlers, *node.orelse, *node.finalbody))

    def visit_If(self, node: ast.If) -> None:
        """`if hasattr(tf, "x"):` and tests of the version."""
        self._visit_branches(node.test, node.body, node.orelse)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        """The same as an expression."""
        self._visit_branches(node.test, [node.body], [node.orelse])

    def _visit_branches(
        self, test: ast.AST, body: Sequence[ast.AST], orelse: Sequence[ast.AST]
    ) -> None:
        self.visit(test)
        how, answer = _test_of_names(test), self._answer(test)
        # Where the answer is known here, the branch that it chooses has to run.
        with self._guarded(how if answer is not True else ""):
            self._visit_all(body)
        with self._guarded(how if answer is not False else ""):
            self._visit_all(orelse)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """`hasattr(tf, "x") and tf.x`, and `or` with what runs if it is not there."""
        goes_on = isinstance(node.op, ast.And)
        self.visit(node.values[0])
        with contextlib.ExitStack() as guards:
            for test, value in itertools.pairwise(node.values):
                how = _test_of_names(test) if self._answer(test) != goes_on else ""
                guards.enter_context(self._guarded(how))
                self.visit(value)

    def _answer(self, test: ast.AST) -> bool | None:
        """What a test says that is `hasattr` of TensorFlow and nothing else."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            answer = self._answer(test.operand)
            return None if answer is None else not answer
        name = self._name_of("hasattr", test)
        return None if name is None else find(name)[0] is not MISSING

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """A function; its arguments are no modules, whatever they are called."""
        self._visit_all((*node.decorator_list, *_defaults(node.args)))
        with self._hidden(argument.arg for argument in _arguments(node.args)):
            self._visit_all(node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """The same as an expression."""
        self._visit_all(_defaults(node.args))
        with self._hidden(argument.arg for argument in _arguments(node.args)):
            self.visit(node.body)

    def _visit_comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
    ) -> None:
        """Names that a comprehension binds are its own; the first iterable is not."""
        first, *others = node.generators
        self.visit(first.iter)
        with self._hidden(
            name.id
            for generator in node.generators
            for name in ast.walk(generator.target)
            if isinstance(name, ast.Name)
        ):
            self._visit_all(first.ifs)
            self._visit_all(others)
            if isinstance(node, ast.DictComp):
                self._visit_all((node.key, node.value))
            else:
                self.visit(node.elt)

    visit_ListComp = visit_SetComp = _visit_comprehension
    visit_DictComp = visit_GeneratorExp = _visit_comprehension

    @contextlib.contextmanager
    def _hidden(self, names: Iterable[str]) -> Iterator[None]:
        """Within, these names are variables of the program."""
        outer, own = self._aliases, set(names)
        self._aliases = {k: v for k, v in outer.items() if k not in own}
        yield
        self._aliases = outer

    def _where(self, node: ast.AST) -> str:
        return f"{self._filename}:{getattr(node, 'lineno', 1)}"

    def _check(self, name: str, node: ast.AST) -> Any:
        value, missing = find(name)
        if missing:
            text = f"there is no tf.{name}"
            self.findings.append(
                Finding(
                    WARNING if self._guard else ERROR,
                    f"tf.{missing}",
                    self._where(node),
                    f"{text}; {self._guard}" if self._guard else text,
                    replacement(name),
                )
            )
        return value

    def visit_Import(self, node: ast.Import) -> None:
        """Imports of TensorFlow's modules and of packages around it."""
        for item in node.names:
            inner = inner_name(item.name)
            if inner:
                self._check(inner, node)
            self._check_companion(item.name, node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """As `visit_Import`, for `from`."""
        if node.level:
            return
        module = node.module or ""
        self._check_companion(module, node)
        inner = inner_name(module)
        if inner is None:
            return
        for item in node.names:
            name = simple_name(f"{inner}.{item.name}" if inner else item.name)
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
        """A call: its name, and whether its arguments fit."""
        name = dotted(node.func, self._aliases)
        fetched = self._name_of("getattr", node)
        if fetched:
            self._check(fetched, node)
        elif name:
            value = self._check(name, node.func)
            self.findings += self._arguments(name, value, node)
            if name in _REFUSED:
                text = f"tf.{name} is refused: there is no eager execution"
                remedy = replacement(name)
                where = self._where(node)
                self.findings.append(Finding(ERROR, f"tf.{name}", where, text, remedy))
        else:
            self.visit(node.func)
        for child in (*node.args, *node.keywords):
            self.visit(child)

    def _name_of(self, function: str, node: ast.AST) -> str | None:
        """`nn.relu` of `getattr(tf.nn, "relu")`, which has no default."""
        if not isinstance(node, ast.Call) or len(node.args) != 2:
            return None
        if not (isinstance(node.func, ast.Name) and node.func.id == function):
            return None
        start, last = dotted(node.args[0], self._aliases), node.args[1]
        if not isinstance(last, ast.Constant) or not isinstance(last.value, str):
            return None
        return None if start is None else f"{start}.{last.value}".lstrip(".")

    def _arguments(self, name: str, value: Any, node: ast.Call) -> Iterator[Finding]:
        if value is MISSING or not callable(value) or "pb2" in _module(value):
            return
        try:
            signature = inspect.signature(value)
        except (TypeError, ValueError):
            return
        parameters = signature.parameters
        if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
            return
        given = {k.arg: None for k in node.keywords if k.arg is not None}
        unknown = [keyword for keyword in given if keyword not in parameters]
        for keyword in unknown:
            near = difflib.get_close_matches(keyword, parameters, 2, 0.6)
            yield self._misfit(
                name,
                f"tf.{name} has no argument '{keyword}'",
                node,
                f"nearest: {', '.join(near)}" if near else "",
            )
        stars = any(isinstance(argument, ast.Starred) for argument in node.args)
        if unknown or stars or len(given) < len(node.keywords):
            return
        # An arg_scope around the call may give what is not given here.
        bind = signature.bind_partial if has_arg_scope(value) else signature.bind
        try:
            bind(*node.args, **given)
        except TypeError as error:
            yield self._misfit(name, f"tf.{name}: {error}", node)

    def _misfit(
        self, name: str, message: str, node: ast.AST, remedy: str = ""
    ) -> Finding:
        return Finding(ERROR, f"tf.{name}", self._where(node), message, remedy)


def _module(value: Any) -> str:
    return str(getattr(value, "__module__", ""))
