"""The `checkpoint` file, which names the checkpoints of a directory."""

from __future__ import annotations

import os
import re
import time
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.storage.checkpoints import bundle_files, increments, write_tokens
from tensorloom.storage.files import filesystem, mirror
from tensorloom.train.checkpoints.large_graph import constants_prefix

V1, V2 = 1, 2  # SaverDef.CheckpointFormatVersion

# The newest checkpoint that this process has named in a state file, and when.
last_named: tuple[str, float] | None = None


def state_filename(save_dir: Any, latest_filename: str | None) -> str:
    """The path of the state file."""
    directory = filesystem.path_text(save_dir)
    return filesystem.join(directory, latest_filename or "checkpoint")


def _relative(path: str, directory: str) -> str:
    return os.path.relpath(path, directory)


@export("train.generate_checkpoint_state_proto")
def generate_checkpoint_state_proto(
    save_dir: Any,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Any = None,
    all_model_checkpoint_timestamps: Any = None,
    last_preserved_timestamp: float | None = None,
) -> Any:
    """A `CheckpointState`, with paths relative to `save_dir` if that is relative.

    The newest path is added to the list of all, if it is not its last one.

    Raises:
      ValueError: there are timestamps, but not one for each path.
    """
    from tensorloom.protos import checkpoint_state_pb2

    directory = filesystem.path_text(save_dir)
    paths = [] if all_model_checkpoint_paths is None else all_model_checkpoint_paths
    if not paths or paths[-1] != model_checkpoint_path:
        program_log.info(
            "%s is not in all_model_checkpoint_paths. Manually adding it.",
            model_checkpoint_path,
        )
        paths.append(model_checkpoint_path)
    times = all_model_checkpoint_timestamps
    if times and len(times) != len(paths):
        raise ValueError(
            "Checkpoint timestamps, if provided, must match checkpoint paths (got "
            f"paths {paths} and timestamps {times})"
        )
    if not filesystem.is_absolute(directory):
        paths = [
            path if filesystem.is_absolute(path) else _relative(path, directory)
            for path in paths
        ]
    return checkpoint_state_pb2.CheckpointState(
        model_checkpoint_path=paths[-1],
        all_model_checkpoint_paths=paths,
        all_model_checkpoint_timestamps=times,
        last_preserved_timestamp=last_preserved_timestamp,  # type: ignore[arg-type]
    )


@export("train.update_checkpoint_state")
def update_checkpoint_state(
    save_dir: Any,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Any = None,
    latest_filename: str | None = None,
    all_model_checkpoint_timestamps: Any = None,
    last_preserved_timestamp: float | None = None,
) -> None:
    """Writes the state file; readers see the old or the new one, never half.

    Raises:
      RuntimeError: the checkpoint has the name of the state file.
      ValueError: there are timestamps, but not one for each path.
    """
    write_state(
        save_dir,
        generate_checkpoint_state_proto(
            save_dir,
            model_checkpoint_path,
            all_model_checkpoint_paths,
            all_model_checkpoint_timestamps,
            last_preserved_timestamp,
        ),
        latest_filename,
    )


def update_checkpoint_state_internal(
    save_dir: Any,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Any = None,
    latest_filename: str | None = None,
    save_relative_paths: bool = False,
    all_model_checkpoint_timestamps: Any = None,
    last_preserved_timestamp: float | None = None,
) -> None:
    """`update_checkpoint_state` that can write paths relative to the directory."""
    state = saved_state(
        save_dir,
        model_checkpoint_path,
        list(all_model_checkpoint_paths or ()),
        save_relative_paths,
        all_model_checkpoint_timestamps,
        last_preserved_timestamp,
    )
    write_state(save_dir, state, latest_filename)


def write_state(save_dir: Any, state: Any, latest_filename: str | None = None) -> None:
    """Writes a `CheckpointState`.

    Raises:
      RuntimeError: the checkpoint has the name of the state file.
      errors.AbortedError: another process has become the writer of the directory.
    """
    from google.protobuf import text_format

    path = state_filename(save_dir, latest_filename)
    if path == state.model_checkpoint_path:
        raise RuntimeError(
            f"Save path '{state.model_checkpoint_path}' conflicts with path used for "
            "checkpoint state.  Please use a different save path."
        )
    with write_tokens.writing(filesystem.path_text(save_dir)):
        filesystem.write_file(path, text_format.MessageToString(state).encode())
    global last_named
    last_named = (state.model_checkpoint_path, time.time())


def saved_state(
    save_dir: str,
    newest: str,
    paths: list[str],
    save_relative_paths: bool,
    timestamps: list[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> Any:
    """What a saver writes into the state file."""
    if save_relative_paths:
        newest, *paths = [
            _relative(p, save_dir) if filesystem.is_absolute(p) else p
            for p in (newest, *paths)
        ]
    return generate_checkpoint_state_proto(
        save_dir, newest, paths, timestamps, last_preserved_timestamp
    )


def state_for_mirror(save_dir: str, state: Any) -> bytes:
    """The state file for a copy of the directory: nothing in it names this one."""
    from google.protobuf import text_format

    other = type(state)()
    other.CopyFrom(state)
    root = save_dir.rstrip("/") + "/"

    def inside(path: str) -> str:
        return path[len(root) :] if path.startswith(root) else path

    other.model_checkpoint_path = inside(other.model_checkpoint_path)
    for at, path in enumerate(other.all_model_checkpoint_paths):
        other.all_model_checkpoint_paths[at] = inside(path)
    return text_format.MessageToString(other).encode()


@export("train.get_checkpoint_state")
def get_checkpoint_state(
    checkpoint_dir: Any, latest_filename: str | None = None
) -> Any:
    """The `CheckpointState` of a directory; None if there is none that can be read.

    If the directory has a mirror and the file is lost, the mirror's, which names
    the checkpoints there.

    Raises:
      ValueError: it names no checkpoint.
    """
    directory = filesystem.path_text(checkpoint_dir)
    state = _read_state(directory, latest_filename)
    if state is None:
        for copy in mirror.copies_of(directory):
            state = state or _read_state(copy, latest_filename)
    return state


def _read_state(directory: str, latest_filename: str | None) -> Any:
    from google.protobuf import text_format

    from tensorloom.protos import checkpoint_state_pb2

    path = state_filename(directory, latest_filename)
    state = checkpoint_state_pb2.CheckpointState()
    try:
        if not filesystem.exists(path):
            return None
        text_format.Merge(filesystem.read_file(path).decode("utf-8"), state)
    except (errors.OpError, text_format.ParseError, UnicodeDecodeError) as error:
        program_log.warning("%s: %s", type(error).__name__, error)
        program_log.warning("%s: Checkpoint ignored", path)
        return None
    if not state.model_checkpoint_path:
        raise ValueError(f"Invalid checkpoint state loaded from {directory}")

    def full(name: str) -> str:
        return (
            name if filesystem.is_absolute(name) else filesystem.join(directory, name)
        )

    state.model_checkpoint_path = full(state.model_checkpoint_path)
    for at, name in enumerate(state.all_model_checkpoint_paths):
        state.all_model_checkpoint_paths[at] = full(name)
    return state


def prefix_to_path(prefix: str, version: int) -> str:
    """The file that tells that a checkpoint is there."""
    return prefix + ".index" if version == V2 else prefix


@export("train.latest_checkpoint")
def latest_checkpoint(
    checkpoint_dir: Any, latest_filename: str | None = None
) -> str | None:
    """The prefix of the newest checkpoint of a directory, or None.

    If the directory has a mirror and the checkpoint is lost, the mirror's.
    """
    directory = filesystem.path_text(checkpoint_dir)
    found = _latest(directory, latest_filename)
    if found is None:
        for copy in mirror.copies_of(directory):
            found = found or _latest(copy, latest_filename)
    return found


def _latest(directory: str, latest_filename: str | None) -> str | None:
    state = _read_state(directory, latest_filename)
    if state is None:
        return None
    path: str = state.model_checkpoint_path
    try:
        if _there(path):
            return path
    except errors.NotFoundError:
        pass
    program_log.error("Couldn't match files for checkpoint %s", path)
    return None


def _there(prefix: str) -> bool:
    return bool(
        filesystem.glob(prefix_to_path(prefix, V2))
        or filesystem.glob(prefix_to_path(prefix, V1))
    )


@export("train.checkpoint_exists")
def checkpoint_exists(checkpoint_prefix: Any) -> bool:
    """Whether there is a checkpoint of that prefix, here or in a mirror.

    Raises:
      NotFoundError: its directory is not there.
    """
    prefix = filesystem.path_text(checkpoint_prefix)
    copies = mirror.copies_of(prefix)
    if not copies:
        return _there(prefix)
    for place in (prefix, *copies):
        try:
            if _there(place):
                return True
        except errors.OpError as error:
            program_log.warning("%s", error.message)
    return False


@export("train.get_checkpoint_mtimes")
def get_checkpoint_mtimes(checkpoint_prefixes: Any) -> list[float]:
    """The times of the last change, in seconds, of those that are there."""
    times = []
    for prefix in checkpoint_prefixes:
        for version in (V2, V1):
            found = filesystem.glob(prefix_to_path(prefix, version))
            if found:
                times.append(filesystem.stat(found[0]).mtime_nsec / 1e9)
                break
    return times


@export("train.remove_checkpoint")
def remove_checkpoint(
    checkpoint_prefix: str,
    checkpoint_format_version: int = V2,
    meta_graph_suffix: str = "meta",
) -> None:
    """Removes the files of a checkpoint, its MetaGraph and increments too.

    The index goes first: what is left by a crash is not taken for a checkpoint.
    """
    prefix = filesystem.path_text(checkpoint_prefix)
    gone = []
    if checkpoint_format_version == V2:
        gone = [*bundle_files.remove(prefix), *increments.remove(prefix)]
    doomed = meta_graph_files(prefix, meta_graph_suffix)
    if checkpoint_format_version != V2:
        doomed += filesystem.glob(prefix)
    for path in doomed:
        filesystem.remove_if_exists(path)
    mirror.removed([*gone, *doomed])


def meta_graph_files(prefix: str, meta_graph_suffix: str) -> list[str]:
    """The MetaGraph of a checkpoint, and its constants that lie beside it."""
    path = meta_graph_filename(prefix, meta_graph_suffix)
    return [*filesystem.glob(path), *filesystem.glob(constants_prefix(path) + ".*")]


def meta_graph_filename(
    checkpoint_filename: str, meta_graph_suffix: str = "meta"
) -> str:
    """The MetaGraph of a checkpoint; shards of a checkpoint share one."""
    basename = re.sub(r"-[\d\?]+-of-\d+$", "", checkpoint_filename)
    return f"{basename}.{meta_graph_suffix}"
