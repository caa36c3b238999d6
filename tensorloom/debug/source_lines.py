"""Which lines of which source files made the nodes of a dump, or took a step's time."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tensorloom.debug.dumps.dump_dir import DebugDumpDir
    from tensorloom.debug.profile_data import AggregateProfile, ProfileDatum

UNCOMPILED_SOURCE_SUFFIXES: Final = (".py",)
COMPILED_SOURCE_SUFFIXES: Final = (".pyc", ".pyo")
_PACKAGE: Final = str(Path(__file__).resolve().parents[1]) + os.sep


def is_extension_uncompiled_python_source(file_path: str) -> bool:
    """Whether a file's name ends as those of Python programs do."""
    return os.path.splitext(file_path)[1].lower() in UNCOMPILED_SOURCE_SUFFIXES


def is_extension_compiled_python_source(file_path: str) -> bool:
    """Whether a file's name ends as those of compiled Python programs do."""
    return os.path.splitext(file_path)[1].lower() in COMPILED_SOURCE_SUFFIXES


def guess_is_tensorflow_py_library(py_file_path: str) -> bool:
    """Whether a Python file is a part of this package.

    Raises:
      ValueError: its name is not that of a Python file.
    """
    if not (
        is_extension_uncompiled_python_source(py_file_path)
        or is_extension_compiled_python_source(py_file_path)
    ):
        raise ValueError(
            f"Input file path ({py_file_path}) is not a Python source file."
        )
    return os.path.abspath(py_file_path).startswith(_PACKAGE)


def load_source(source_file_path: str) -> tuple[list[str], int]:
    """A file's lines, and how wide a column for their numbers is."""
    text = Path(source_file_path).read_text(encoding="utf-8", errors="replace")
    lines = text.split("\n")
    return lines, len(str(len(lines))) + 3


def frames(dump: DebugDumpDir) -> Iterator[tuple[str, int, Any]]:
    """(file, line, operation) of each frame that made an operation.

    Raises:
      ValueError: the dump does not know the program's graph.
    """
    if dump.python_graph is None:
        raise ValueError("Python graph is not available for traceback lookup")
    for operation in dump.python_graph.get_operations():
        for frame in operation.traceback:
            file, line = tuple(frame)[:2]
            yield os.path.abspath(file), int(line), operation


def annotate_source(
    dump: DebugDumpDir,
    source_file_path: str,
    do_dumped_tensors: bool = False,
    file_stack_top: bool = False,
    min_line: int | None = None,
    max_line: int | None = None,
) -> dict[int, list[str]]:
    """What each line of a file made.

    Args:
      dump: a dump with a graph (`DebugDumpDir.set_python_graph`).
      source_file_path: the file.
      do_dumped_tensors: whether dumped tensors are told, not operations.
      file_stack_top: of several lines of the file that called each other on the way to
        an operation, only the innermost one.
      min_line: the first line, from 1.
      max_line: the line after the last one.

    Returns:
      By line number, names.

    Raises:
      ValueError: the dump does not know the program's graph.
    """
    path = os.path.abspath(source_file_path)
    dumped: dict[str, dict[str, None]] = defaultdict(dict)
    for datum in dump.dumped_tensor_data:
        dumped[datum.node_name][datum.tensor_name] = None
    of_operation: dict[Any, list[int]] = defaultdict(list)
    for file, line, operation in frames(dump):
        if file == path and _is_between(line, min_line, max_line):
            of_operation[operation].append(line)
    found: dict[int, list[str]] = {}
    for operation, lines in of_operation.items():
        names = list(dumped[operation.name]) if do_dumped_tensors else [operation.name]
        for line in lines[-1:] if file_stack_top else lines[::-1]:
            found.setdefault(line, []).extend(names)
    return found


def _is_between(line: int, first: int | None, end: int | None) -> bool:
    return (first is None or line >= first) and (end is None or line < end)


@dataclass(slots=True)
class _File:
    """What the lines of one file made."""

    first_line: int
    nodes: set[str] = field(default_factory=set)
    tensors: set[str] = field(default_factory=set)


def list_source_files_against_dump(
    dump: DebugDumpDir,
    path_regex_whitelist: str | None = None,
    node_name_regex_whitelist: str | None = None,
) -> list[tuple[str, bool, int, int, int, int]]:
    """The files that made nodes.

    Args:
      dump: a dump with a graph (`DebugDumpDir.set_python_graph`).
      path_regex_whitelist: regular expression that paths begin with.
      node_name_regex_whitelist: regular expression that nodes' names begin with.

    Returns:
      (path, whether it is of this package, nodes, their outputs, dumps of these, the
      first line that made one), by path.

    Raises:
      ValueError: the dump does not know the program's graph.
    """
    dumps: dict[str, int] = defaultdict(int)
    for datum in dump.dumped_tensor_data:
        dumps[datum.tensor_name] += 1
    files: dict[str, _File | None] = {}
    for path, line, operation in frames(dump):
        name = operation.name
        if node_name_regex_whitelist and not re.match(node_name_regex_whitelist, name):
            continue
        if path not in files:
            # What is no file, such as <frozen runpy>, made nothing.
            is_wanted = os.path.isfile(path) and (
                not path_regex_whitelist or re.match(path_regex_whitelist, path)
            )
            files[path] = _File(line) if is_wanted else None
        file = files[path]
        if file is None:
            continue
        file.first_line = min(file.first_line, line)
        file.nodes.add(name)
        file.tensors.update(output.name for output in operation.outputs)
    return sorted(
        (
            path,
            path.startswith(_PACKAGE),
            len(file.nodes),
            len(file.tensors),
            sum(dumps[tensor] for tensor in file.tensors),
            file.first_line,
        )
        for path, file in files.items()
        if file is not None
    )


def annotate_source_against_profile(
    profile_data: Iterable[ProfileDatum],
    source_file_path: str,
    node_name_filter: str | None = None,
    op_type_filter: str | None = None,
    min_line: int | None = None,
    max_line: int | None = None,
) -> dict[int, AggregateProfile]:
    """What each line of a file took in a traced step.

    Args:
      profile_data: of the step.
      source_file_path: the file.
      node_name_filter: regular expression that nodes' names begin with.
      op_type_filter: regular expression that their ops begin with.
      min_line: the first line, from 1.
      max_line: the line after the last one.

    Returns:
      By line number, the sums of its nodes.
    """
    from tensorloom.debug.profile_data import AggregateProfile

    path = os.path.abspath(source_file_path)
    found: dict[int, AggregateProfile] = {}
    for datum in profile_data:
        if (
            not datum.file_path
            or os.path.abspath(datum.file_path) != path
            or not _is_between(datum.line_number, min_line, max_line)
            or not re.match(node_name_filter or "", datum.node_exec_stats.node_name)
            or not re.match(op_type_filter or "", datum.op_type)
        ):
            continue
        if datum.line_number in found:
            found[datum.line_number].add(datum)
        else:
            found[datum.line_number] = AggregateProfile(datum)
    return found
