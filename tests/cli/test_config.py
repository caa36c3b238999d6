"""`tensorloom config` prints flags of the C API, or says that it is not built."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tensorloom.cli.main import main

if TYPE_CHECKING:
    import pytest


def test_flags(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libtensorloom.so").touch()
    monkeypatch.setenv("TENSORLOOM_CAPI", str(tmp_path))
    assert main(["config", "--cflags", "--libs"]) == 0
    lib = tmp_path / "lib"
    assert capsys.readouterr().out.split() == [
        f"-I{tmp_path}/include",
        f"-L{lib}",
        f"-Wl,-rpath,{lib}",
        "-ltensorloom",
    ]


def test_not_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TENSORLOOM_CAPI", str(tmp_path))
    assert main(["config", "--libs"]) != 0
    assert "make capi" in capsys.readouterr().err
