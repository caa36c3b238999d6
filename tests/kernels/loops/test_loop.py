"""Compiled loops: machine code on disk is used again, and never in the way."""

from __future__ import annotations

import errno
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.caching import IndexDataCacheFile

from tensorloom.kernels import loops

SOURCE = """
from tensorloom.kernels.loops import loop

@loop
def double(x):
    for i in range(len(x)):
        x[i] *= 2
"""


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """Loads the function of the source, as a new process does."""
    source = tmp_path / "doubles.py"
    source.write_text(SOURCE)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "machine_code"))

    def load() -> Any:
        spec = importlib.util.spec_from_file_location("doubles", source)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.double

    return load


def _hits(double: Any) -> int:
    x = np.arange(3.0)
    double(x)
    assert x.tolist() == [0, 2, 4]
    return sum(double.stats.cache_hits.values())


def test_machine_code_is_used_again(load: Callable[[], Any]) -> None:
    assert _hits(load()) == 0
    assert _hits(load()) == 1


def test_a_change_in_the_package_compiles_again(
    load: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    _hits(load())
    monkeypatch.setattr(loops, "_package", lambda: (("rows.py", 1.0, 2),))
    assert _hits(load()) == 0
    assert _hits(load()) == 1


@pytest.mark.parametrize("kind", ["*.nbi", "*.nbc"])
@pytest.mark.parametrize("left", [0, 30, 100])
def test_torn_files_are_made_again(
    load: Callable[[], Any], tmp_path: Path, kind: str, left: int
) -> None:
    _hits(load())
    (file,) = tmp_path.rglob(kind)
    file.write_bytes(file.read_bytes()[:left])
    assert _hits(load()) == 0
    assert _hits(load()) == 1


def test_a_full_disk_is_no_error(
    load: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def save(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(IndexDataCacheFile, "save", save)
    assert _hits(load()) == 0
    assert _hits(load()) == 0


def test_without_a_folder_for_it_machine_code_is_not_kept(
    load: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_LOCATOR_CLASSES", "ZipCacheLocator")
    assert _hits(load()) == 0
    assert _hits(load()) == 0
