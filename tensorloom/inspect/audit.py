"""`audit(path)`: will it run here? For graphs, checkpoints and programs alike."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.inspect.findings import ERROR, NOTE, Audit, Finding
from tensorloom.inspect.model_files import checkpoint_prefix, open_model
from tensorloom.storage.files import filesystem

if TYPE_CHECKING:
    from tensorloom.storage.checkpoints.checkpoints import Reader

_NOTEBOOK = ".ipynb"
_PROGRAMS = (".py", _NOTEBOOK)
_OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"


def audit(path: Any, progress: Callable[[str], None] = lambda text: None) -> Audit:
    """Says what keeps a file, directory or program from running here.

    Args:
      path: a GraphDef, MetaGraphDef, SavedModel, checkpoint, Python program or
        notebook, or a directory of programs.
      progress: told what is looked at.

    Raises:
      errors.NotFoundError: there is nothing of that name.
      errors.InvalidArgumentError: it is nothing of these.
    """
    path = filesystem.path_text(path)
    if path.endswith(_PROGRAMS):
        return _audit_programs(path, [path], progress)
    from tensorloom.saved_model.loader import maybe_saved_model_directory

    if not maybe_saved_model_directory(path):
        prefix = checkpoint_prefix(path)
        if prefix is not None:
            return _audit_checkpoint(prefix, progress)
        if filesystem.is_directory(path):
            programs = sorted(_programs(path))
            if programs:
                return _audit_programs(path, programs, progress)
    return _audit_model(path, progress)


def _programs(directory: str) -> Iterator[str]:
    for folder, folders, names in filesystem.walk(directory):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if name.endswith(_PROGRAMS):
                yield filesystem.join(folder, name)


def _audit_programs(
    path: str, programs: list[str], progress: Callable[[str], None]
) -> Audit:
    from tensorloom.inspect.audit_program import audit_program
    from tensorloom.inspect.notebooks import program_of

    findings: list[Finding] = []
    for program in programs:
        progress(program)
        source = filesystem.read_file(program)
        if program.endswith(_NOTEBOOK):
            source = program_of(source, program)
        findings += audit_program(source, program)
    facts = {"files": len(programs)}
    return Audit(path, "program" if path in programs else "programs", findings, facts)


def _audit_model(path: str, progress: Callable[[str], None]) -> Audit:
    from tensorloom.inspect.audit_graph import audit_graph, graph_facts
    from tensorloom.inspect.outside_constants import completed

    model = open_model(path)
    findings: list[Finding] = []
    facts: dict[str, Any] = {}
    for graph in model.graphs:
        progress(graph.label or path)
        if graph.constants:
            graph, found = completed(graph)
            findings += found
        findings += audit_graph(graph)
        if len(model.graphs) == 1:
            facts = graph_facts(graph)
        else:
            facts[graph.label] = graph_facts(graph)
    if model.kind == "SavedModel":
        findings += _audit_variables(path, model.graphs, progress)
    return Audit(path, model.kind, findings, facts)


def _audit_variables(
    path: str, graphs: Any, progress: Callable[[str], None]
) -> Iterator[Finding]:
    """A SavedModel's checkpoint is whole, and its assets are there."""
    from tensorloom.saved_model import assets
    from tensorloom.saved_model.export_directory import variables_path
    from tensorloom.storage.checkpoints.checkpoints import open_checkpoint

    directory = path if filesystem.is_directory(path) else filesystem.parent(path)
    if any(graph.meta_graph_def.HasField("saver_def") for graph in graphs):
        prefix = variables_path(directory)
        try:
            with open_checkpoint(prefix) as reader:
                yield from _damaged(reader, prefix, progress)
        except errors.OpError as error:
            yield Finding(ERROR, "variables", prefix, error.message)
    for graph in graphs:
        try:
            feeds = assets.feeds(directory, graph.meta_graph_def, None)
        except errors.OpError as error:
            yield Finding(ERROR, "assets", directory, error.message)
            continue
        for name, file in feeds.items():
            if not filesystem.exists(file):
                yield Finding(ERROR, name, file, "the asset is missing")


def _audit_checkpoint(prefix: str, progress: Callable[[str], None]) -> Audit:
    from tensorloom.storage.checkpoints.checkpoints import open_checkpoint

    findings: list[Finding] = []
    facts: dict[str, Any] = {}
    try:
        with open_checkpoint(prefix) as reader:
            names = reader.names
            facts = {"tensors": len(names)}
            if _OBJECT_GRAPH.encode() in names:
                findings.append(
                    Finding(
                        NOTE,
                        _OBJECT_GRAPH,
                        prefix,
                        "an object-based checkpoint of TensorFlow 2",
                        "tf.train.Saver restores it by the names of its variables",
                    )
                )
            findings += _damaged(reader, prefix, progress)
    except errors.OpError as error:
        findings.append(Finding(ERROR, os.path.basename(prefix), prefix, error.message))
    return Audit(prefix, "checkpoint", findings, facts)


def _damaged(
    reader: Reader, prefix: str, progress: Callable[[str], None]
) -> Iterator[Finding]:
    """Reads every tensor, so that every checksum is compared."""
    for name in reader.names:
        text = name.decode("utf-8", "backslashreplace")
        progress(text)
        try:
            reader.read(name)
        except errors.OpError as error:
            yield Finding(ERROR, text, prefix, f"{text}: {error.message}")
