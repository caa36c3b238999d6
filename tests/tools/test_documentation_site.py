"""The pages that the documentation site is built from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools import documentation_site


def test_a_page_of_the_reference() -> None:
    page = documentation_site.reference_page("", ["matmul", "float32", "Graph"])
    assert page.startswith("# tf\n")
    assert "## `tf.matmul` {#tf.matmul}" in page
    assert "\n::: tensorloom.framework.graph.dataflow_graph.Graph\n" in page
    assert "`DType`" in page


def test_each_namespace_has_its_names() -> None:
    names = documentation_site.public_names()
    assert "Saver" in names["train"]
    assert "constant" in names[""]
    assert not any(name.startswith(("compat", "raw_ops")) for name in names)


@pytest.mark.slow
def test_all_pages_are_in_the_table_of_contents_once(tmp_path: Path) -> None:
    reference = documentation_site.write_pages(tmp_path)
    contents = documentation_site.navigation(tmp_path, reference)
    listed: list[str] = []
    for part in contents:
        for value in part.values():
            entries = value if isinstance(value, list) else [value]
            listed += [
                e if isinstance(e, str) else next(iter(e.values())) for e in entries
            ]
    written = {str(page.relative_to(tmp_path)) for page in tmp_path.rglob("*.md")}
    sources = {page for page in written if page.startswith("source/")}
    assert sorted(listed) == sorted(written - sources)
    # "Where the real thing does this": a page with the file.
    assert (
        "class" in (tmp_path / "source/tensorloom/master/run/master.py.md").read_text()
    )
    absent = [
        (page, link)
        for page in written - sources
        if not page.startswith("reference/")
        for link in re.findall(r"\]\(([\w./-]+\.\w+)\)", (tmp_path / page).read_text())
        if not ((tmp_path / page).parent / link).exists()
    ]
    assert absent == []
