"""`import tensorloom` needs the dependencies alone, not what extras bring.

The first import after a change loads the modules of all packages that declare names.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import tensorloom
from tensorloom import _NOT_INDEXED

ROOT = Path(tensorloom.__file__).parent
# What a distribution is called when it is imported, if otherwise.
MODULES = {"scikit-learn": "sklearn"}
IMPORT = re.compile(r"^(?:import|from) (\w+)", re.MULTILINE)


def _optional() -> set[str]:
    project = tomllib.loads((ROOT.parent / "pyproject.toml").read_text())["project"]

    def modules(requirements: list[str]) -> set[str]:
        names = [re.match(r"[\w.-]+", text)[0] for text in requirements]  # type: ignore[index]
        return {MODULES.get(name, name.replace("-", "_")) for name in names}

    needed = modules(project["dependencies"])
    extras = project["optional-dependencies"].values()
    found = set().union(*map(modules, extras)) - needed
    return {name.removesuffix("_api").removesuffix("_sdk") for name in found}


def test_modules_that_the_index_loads_import_no_optional_package() -> None:
    optional = _optional()
    assert {"prometheus_client", "opentelemetry", "starlette"} <= optional
    wrong = [
        f"{file.relative_to(ROOT)}: {name}"
        for folder in sorted(ROOT.iterdir())
        if folder.is_dir() and folder.name not in _NOT_INDEXED
        for file in sorted(folder.rglob("*.py"))
        for name in IMPORT.findall(file.read_text(encoding="utf-8"))
        if name in optional
    ]
    assert not wrong
