"""Writes what the documentation site is built from: all pages, and the reference.

Usage: python tools/documentation_site.py FOLDER
       mkdocs build --config-file FOLDER/mkdocs.yml

The reference has a page for each of `tf`'s namespaces. What a name is, mkdocstrings
reads from the module that defines it; what is made when the program runs (constants,
generated functions) is described by its value.
"""

from __future__ import annotations

import functools
import inspect
import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any, Final

from tensorloom.framework import export

ROOT = Path(__file__).parents[1]
# The order of pages for those who read on; the others follow by name.
_PARTS: Final = {
    "Using it": [
        *("command-line", "legacy", "layers", "training-sessions", "session-options"),
        *("checkpoints", "saved-model", "summaries", "autograph", "random-numbers"),
        *("examples", "programs", "gpu", "compatibility"),
    ],
    "Clusters": ["distributed", "clusters", "distribute", "horovod", "failures"],
    "After training": ["serving", "streams", "deploy"],
    "Other languages": ["c-api", "clients", "eager"],
    "The inside": [
        *("architecture", "rewrites", "inside", "debugging", "extending", "research"),
    ],
}
# Copies of names that have pages elsewhere.
_LEFT_OUT = re.compile(r"^(compat|raw_ops|_)|\._")
_LINK = re.compile(r"\]\(([^)#:\s]+)(#[^)\s]*)?\)")
_SOURCE: Final = """---
search:
  exclude: true
---
# {path}

````{language}
{text}
````
"""


def public_names() -> dict[str, list[str]]:
    """Namespace ("" is tf itself) -> the last parts of the public names in it."""
    found: dict[str, list[str]] = {}
    for name in export.names():
        if not _LEFT_OUT.search(name):
            namespace, _, last = name.rpartition(".")
            found.setdefault(namespace, []).append(last)
    return {namespace: sorted(found[namespace]) for namespace in sorted(found)}


def reference_page(namespace: str, lasts: list[str]) -> str:
    """The page of a namespace."""
    title = f"tf.{namespace}" if namespace else "tf"
    parts = [f"# {title}\n"]
    for last in lasts:
        name = f"{namespace}.{last}" if namespace else last
        value = export.find(name)
        parts.append(f"## `tf.{name}` {{#tf.{name}}}\n\n{_described(value)}")
    return "\n".join(parts)


def _described(value: Any) -> str:
    where = getattr(value, "__module__", None)
    qualified = getattr(value, "__qualname__", "")
    if _is_defined_at(value, where, qualified):
        return f"::: {where}.{qualified}\n"
    if not callable(value):
        return f"`{type(value).__name__}`: `{str(value)[:200]}`\n"
    text = inspect.getdoc(value) or ""
    try:
        signature = re.sub(r" at 0x\w+", "", str(inspect.signature(value)))
    except (TypeError, ValueError):
        signature = "(...)"
    return f"```python\n{qualified}{signature}\n```\n\n```text\n{text}\n```\n"


def _is_defined_at(value: Any, where: str | None, qualified: str) -> bool:
    """Whether the source has a `def` or `class` of that name at that place."""
    if where is None or not where.startswith("tensorloom."):
        return False
    if where not in sys.modules or "_pb2" in where:
        return False
    return qualified in _defined_in(where)


@functools.cache
def _defined_in(where: str) -> frozenset[str]:
    """What the source of a loaded module defines at its top."""
    try:
        source = inspect.getsource(sys.modules[where])
    except (OSError, TypeError):
        return frozenset()
    return frozenset(re.findall(r"^(?:def|class) (\w+)", source, re.M))


def write_pages(folder: Path) -> list[str]:
    """Writes all pages into a folder; returns the reference's, in order."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder, ignore=shutil.ignore_patterns("*.pyc"))
    (folder / "changelog.md").write_text((ROOT / "CHANGELOG.md").read_text())
    (folder / "index.md").write_text((ROOT / "README.md").read_text())
    for page in list(folder.rglob("*.md")):
        _turn_links(page, folder)
    reference = folder / "reference"
    reference.mkdir()
    written = []
    for namespace, lasts in public_names().items():
        name = f"tf.{namespace}.md" if namespace else "tf.md"
        (reference / name).write_text(reference_page(namespace, lasts))
        written.append(f"reference/{name}")
    return written


def _turn_links(page: Path, folder: Path) -> None:
    """Has links lead to pages of the site, also those to files of the source."""
    origins = {"index.md": ROOT / "README.md", "changelog.md": ROOT / "CHANGELOG.md"}
    name = str(page.relative_to(folder))
    origin = origins.get(name, ROOT / "docs" / name)

    def turned(link: re.Match[str]) -> str:
        target = (origin.parent / link[1]).resolve()
        if not target.exists() or not target.is_relative_to(ROOT):
            return link[0]
        inside = (
            folder / target.relative_to(ROOT / "docs") if _is_page(target) else None
        )
        if target == ROOT / "CHANGELOG.md":
            inside = folder / "changelog.md"
        anchor = link[2] or ""
        if inside is None:
            inside, anchor = _source_page(target, folder), ""
        return f"]({os.path.relpath(inside, page.parent)}{anchor})"

    page.write_text(_LINK.sub(turned, page.read_text()))


def _is_page(target: Path) -> bool:
    """Whether a file is in docs/, of which the site has a copy."""
    return target.is_relative_to(ROOT / "docs") and target.suffix != ".py"


def _source_page(target: Path, folder: Path) -> Path:
    """The page that shows a file of the source, or what a folder of it has."""
    path = target.relative_to(ROOT)
    page = folder / "source" / f"{path}.md"
    if not page.exists():
        if target.is_dir():
            text, language = "\n".join(sorted(p.name for p in target.iterdir())), "text"
        else:
            text = target.read_text()
            language = {".py": "python", ".md": "markdown"}.get(target.suffix, "text")
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(_SOURCE.format(path=path, language=language, text=text))
    return page


def navigation(pages: Path, reference: list[str]) -> list[dict[str, Any]]:
    """The site's table of contents: each page once."""
    there = {page.stem for page in pages.glob("*.md")}
    named = {name for names in _PARTS.values() for name in names}
    parts = dict(_PARTS)
    parts["Using it"] = [*parts["Using it"], *sorted(there - named - {"index"})]
    chapters = sorted(
        f"tutorial/{page.name}" for page in (pages / "tutorial").glob("*.md")
    )
    return [
        {"Home": "index.md"},
        *(
            {part: [f"{name}.md" for name in names if name in there]}
            for part, names in parts.items()
        ),
        {"Tutorial": [chapters[-1], *chapters[:-1]]},
        {"Reference": [{Path(page).stem: page} for page in reference]},
    ]


def main(arguments: list[str]) -> int:
    """The command."""
    folder = Path(arguments[0])
    pages = folder / "pages"
    reference = write_pages(pages)
    settings = {
        "INHERIT": str(ROOT / "mkdocs.yml"),
        "docs_dir": "pages",
        "site_dir": "site",
        "nav": navigation(pages, reference),
    }
    # JSON is YAML.
    (folder / "mkdocs.yml").write_text(json.dumps(settings, indent=1))
    print(f"{len(reference)} pages of the reference in {pages}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
