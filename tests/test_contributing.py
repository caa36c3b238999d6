"""CONTRIBUTING.md and docs/ say what is true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
PAGES = sorted([*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_a_page_names_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([\w./-]+\.\w+)\)", text)
    absent = [link for link in links if not (page.parent / link).exists()]
    files = re.findall(r"`((?:\w+/)*\w+\.py)`", text)
    absent += [name for name in files if not _exists(name)]
    assert absent == []


def _exists(name: str) -> bool:
    """A path in the repository or the package, or a file's bare name."""
    if "/" not in name:
        return any(REPOSITORY.glob(f"[a-z]*/**/{name}"))
    return any(
        (base / name).exists() for base in (REPOSITORY, REPOSITORY / "tensorloom")
    )


def test_commands_that_a_page_names_exist() -> None:
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for page in PAGES:
        named = re.findall(r"(?:`|^    )make ([a-z-]+)", page.read_text("utf-8"), re.M)
        assert set(named) <= targets, page.name


def _python_blocks(page: str) -> list[str]:
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def test_the_op_in_five_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tensorloom.framework.registry import op_kernel, op_registry

    # Other tests walk the registries, which must not lose what loads meanwhile.
    op_kernel.load_host_kernels()
    op_kernel.load_torch_kernels()
    op_registry.registered_ops()  # those that load late are not lost afterwards
    monkeypatch.setattr(op_registry, "_REGISTRY", dict(op_registry._REGISTRY))
    monkeypatch.setattr(op_kernel, "_KERNELS", dict(op_kernel._KERNELS))
    (block,) = _python_blocks("CONTRIBUTING.md")
    exec(compile(block, "CONTRIBUTING.md", "exec"), {"__name__": "contributing"})
    expected = "[array([1., 8.], dtype=float32), array([ 3., 12.], dtype=float32)]\n"
    assert capsys.readouterr().out == expected


def test_the_program_of_the_architecture_page(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (block,) = _python_blocks("docs/architecture.md")
    exec(compile(block, "architecture.md", "exec"), {"__name__": "architecture"})
    assert "array([[6., 6.]], dtype=float32)" in capsys.readouterr().out
