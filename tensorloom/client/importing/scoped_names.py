"""Names of nodes as they leave a scope on export and enter one on import."""

from __future__ import annotations


def strip_scope(name: str, export_scope: str | None) -> str:
    """`name` without the scope it is exported from."""
    if not export_scope:
        return name
    prefix = export_scope.rstrip("/") + "/"
    for mark in ("", "^", "loc:@"):
        if name.startswith(mark + prefix):
            return mark + name[len(mark + prefix) :]
    return name


def prepend_scope(name: str, import_scope: str | None) -> str:
    """`name` under the scope it is imported into."""
    if not import_scope:
        return name
    scope = import_scope.rstrip("/")
    for mark in ("loc:@", "^"):
        if name.startswith(mark):
            return f"{mark}{scope}/{name[len(mark) :]}"
    return f"{scope}/{name}"
