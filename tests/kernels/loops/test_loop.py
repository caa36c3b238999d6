"""Compiled loops: machine code on disk is used again, and never in the way."""

from __future__ import annotations

import ast
import errno
import importlib.util
import os
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from tensorloom.kernels.loops import forms
from tensorloom.kernels.loops import machine_code as loops

SOURCE = """
from tensorloom.kernels.loops import loop

@loop
def double(x):
    for i in range(len(x)):
        x[i] *= 2
"""
# As long, and of the same time.
TRIPLE = SOURCE.replace("2", "3")
PLACE = Path(loops.__file__).parent


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Loads the function of a source, as a new process does."""
    source = tmp_path / "doubles.py"
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "machine_code"))
    monkeypatch.setenv(forms.FORMS_VARIABLE, "machine")

    def load(text: str = SOURCE) -> Any:
        source.write_text(text)
        os.utime(source, (0, 0))
        loops._sources.cache_clear()
        loops._remove_others.cache_clear()
        spec = importlib.util.spec_from_file_location("doubles", source)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        # Not from a compiled file beside it, which hangs on time and size.
        exec(compile(text, source, "exec"), module.__dict__)
        return module.double

    return load


def _hits(double: Any, dtype: Any = np.float64, times: int = 2) -> int:
    x = np.arange(3, dtype=dtype)
    double(x)
    assert x.tolist() == [0, times, 2 * times]
    return sum(double.compiled().stats.cache_hits.values())


def _files(tmp_path: Path) -> list[Path]:
    return [file for file in (tmp_path / "machine_code").rglob("*") if file.is_file()]


def test_machine_code_is_used_again(load: Callable[..., Any]) -> None:
    assert _hits(load()) == 0
    assert _hits(load()) == 1


def test_a_change_in_the_package_compiles_again(
    load: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    _hits(load())
    monkeypatch.setattr(loops, "_TABLES", ("loops/indexing/rows.py",))
    assert _hits(load()) == 0
    assert _hits(load()) == 1


def test_a_change_of_the_same_time_and_size_compiles_again(
    load: Callable[..., Any],
) -> None:
    _hits(load())
    assert _hits(load(TRIPLE), times=3) == 0
    assert _hits(load(TRIPLE), times=3) == 1


def test_machine_code_of_other_sources_is_removed(
    load: Callable[..., Any], tmp_path: Path
) -> None:
    _hits(load())
    (before,) = _files(tmp_path)
    _hits(load(TRIPLE), times=3)
    _hits(load(TRIPLE), np.int8, times=3)
    after = _files(tmp_path)
    assert len(after) == 2
    assert before not in after


@pytest.mark.parametrize("setting", ["BOUNDSCHECK", "LOOP_VECTORIZE", "OPT"])
def test_other_settings_compile_again(
    load: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    _hits(load())
    with monkeypatch.context() as patch:
        patch.setattr(numba.config, setting, not getattr(numba.config, setting))
        assert _hits(load()) == 0
        assert _hits(load()) == 1
    assert _hits(load()) == 1


def _left(content: bytes, bytes_left: int) -> bytes:
    return content[:bytes_left]


def _flipped(content: bytes, place: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


@pytest.mark.parametrize("damage", [_left, _flipped])
@pytest.mark.parametrize("place", [0, 3000])
def test_torn_files_are_made_again(
    load: Callable[..., Any],
    tmp_path: Path,
    damage: Callable[[bytes, int], bytes],
    place: int,
) -> None:
    _hits(load())
    (file,) = _files(tmp_path)
    file.write_bytes(damage(file.read_bytes(), place))
    assert _hits(load()) == 0
    assert _hits(load()) == 1


@pytest.mark.parametrize("limit", [0, 4000])
def test_a_disk_that_fills_keeps_no_machine_code_of_before(
    load: Callable[..., Any], tmp_path: Path, limit: int
) -> None:
    """With room for what is small, too: numba's index was, its machine code was not."""
    _hits(load())
    double = load(TRIPLE)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limits[1]))
    try:
        assert _hits(double, times=3) == 0
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert _files(tmp_path) == []
    assert _hits(load(TRIPLE), times=3) == 0
    assert _hits(load(TRIPLE), times=3) == 1


def test_two_processes_at_once_keep_the_machine_code_of_both(
    load: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One saves while the other is about to put its first file in place."""
    one, other = load(), load()
    replace = os.replace
    pending = [other]

    def replace_later(*names: Any, **options: Any) -> None:
        while pending:
            _hits(pending.pop(), np.int8)
        replace(*names, **options)

    monkeypatch.setattr(os, "replace", replace_later)
    assert _hits(one) == 0
    assert not pending
    assert _hits(load(), np.int8) == 1
    assert _hits(load()) == 1


def test_an_interrupted_save_leaves_nothing(
    load: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*names: object) -> None:
        raise KeyboardInterrupt

    double = load()
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", interrupt)
        with pytest.raises(KeyboardInterrupt):
            _hits(double)
    assert _files(tmp_path) == []
    assert _hits(load()) == 0
    assert _hits(load()) == 1


def test_a_folder_that_goes_away_is_made_again(
    load: Callable[..., Any], tmp_path: Path
) -> None:
    double = load()
    double.compiled()  # finds out where its machine code is kept
    place = tmp_path / "machine_code"
    place.rename(tmp_path / "elsewhere")
    assert _hits(double) == 0
    assert _hits(load()) == 1


def test_a_full_disk_is_no_error(
    load: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def replace(*names: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", replace)
    assert _hits(load()) == 0
    assert _hits(load()) == 0


def test_machine_code_that_cannot_be_read_out_is_not_kept(
    load: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after an interrupt in a callback of LLVM."""

    def dumps(code: object) -> bytes:
        raise RuntimeError("no compiled object yet")

    with monkeypatch.context() as patch:
        patch.setattr(loops, "dumps", dumps)
        assert _hits(load()) == 0
    assert _hits(load()) == 0


def test_numba_can_be_off_for_the_rest_of_a_program(
    load: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`sum` is among what numba itself has in Python and compiles with the loop."""
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    total = SOURCE.replace("x[i] *= 2", "x[i] += min(x[i], np.sum(x) + x[i])")
    text = "import numpy as np\n" + total
    assert _hits(load(text)) == 0
    assert _hits(load(text)) == 1
    assert numba.config.DISABLE_JIT == 1


def test_without_a_folder_for_it_machine_code_is_not_kept(
    load: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_LOCATOR_CLASSES", "ZipCacheLocator")
    assert _hits(load()) == 0
    assert _hits(load()) == 0


def test_without_a_home_nothing_is_made_beside_the_program(
    load: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a user who is in no table of users: his home is said to be `~`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", "~/.cache")
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    (tmp_path / "__pycache__").touch()  # no folder
    assert _hits(load()) == 0
    assert _hits(load()) == 0
    assert not (tmp_path / "~").exists()


def test_without_sources_machine_code_is_not_kept(
    load: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loops, "_TABLES", ("in_an_archive.py",))
    assert _hits(load()) == 0
    assert _hits(load()) == 0


@pytest.mark.parametrize("module", sorted(PLACE.rglob("*.py")), ids=lambda m: m.stem)
def test_what_loops_take_is_part_of_their_state(module: Path) -> None:
    """Else a change there would leave machine code with what was before."""
    tree = ast.parse(module.read_text())
    loop_names = {"loop", "machine_loop", "object_loop"}
    decorators = (
        decorator
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
    )
    if not any(isinstance(d, ast.Name) and d.id in loop_names for d in decorators):
        return
    taken = {
        f"{node.module}.{name.name}".replace(".", "/")
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").startswith("tensorl")
        for name in node.names
    }
    tables = {
        f"tensorloom/kernels/{name.removesuffix('.py')}" for name in loops._TABLES
    }
    assert {
        name for name in taken if not name.startswith("tensorloom/kernels/loops/")
    } <= tables
