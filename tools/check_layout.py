"""The house rules of the folders: few names in each, no circles of imports.

Usage: python tools/check_layout.py [FOLDER...]

A folder of the package, of the tests, benchmarks and examples has at most 25 modules
(generated ones are not counted). Modules that import each other, at their top or inside
of functions, are a circle: there is none. Imports for type checkers alone are not
counted.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

MOST_MODULES = 25


def modules_of(root: Path) -> dict[str, Path]:
    """The modules below a package's folder by their dotted names."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        if "_pb2" in path.name:
            continue
        parts = path.relative_to(root.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(path: Path, modules: dict[str, Path]) -> set[str]:
    """The modules that one file imports, but for those of type checkers alone."""
    found = set()
    for node in _run_time_nodes(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(a.name for a in node.names if a.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in modules else node.module)
    return found & modules.keys()


def _run_time_nodes(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            continue
        yield child
        yield from _run_time_nodes(child)


def circles_in(graph: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected parts of more than one module (Tarjan's algorithm)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(graph[name]):
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            part = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(part) > 1:
                found.append(sorted(part))

    sys.setrecursionlimit(10_000)
    for name in graph:
        if name not in index:
            visit(name)
    return sorted(found, key=lambda part: (-len(part), part))


def crowded(root: Path) -> Iterator[str]:
    """Folders with too many modules, as lines for the user."""
    for folder in sorted({path.parent for path in modules_of(root).values()}):
        names = {p.name for p in folder.glob("*.py")} - {"__init__.py"}
        count = sum("_pb2" not in name for name in names)
        if count > MOST_MODULES:
            yield f"{folder}: {count} modules, at most {MOST_MODULES}"


def circles(root: Path) -> Iterator[str]:
    """Circles of imports, as lines for the user."""
    modules = modules_of(root)
    graph = {name: imports_of(path, modules) - {name} for name, path in modules.items()}
    for part in circles_in(graph):
        yield f"{len(part)} modules import each other: {', '.join(part)}"


def main() -> int:
    folders = sys.argv[1:] or ["tensorloom", "tests", "benchmarks", "examples"]
    problems = []
    for root in map(Path, folders):
        problems += [*crowded(root), *circles(root)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
