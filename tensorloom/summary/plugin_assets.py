"""Files that plugins of TensorBoard want beside the events of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.storage.files import filesystem

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Graph

_COLLECTION = "__plugin_assets"


def write_plugin_assets(graph: Graph, logdir: str) -> None:
    """Writes what plugins have put into a graph's collections.

    A collection `__plugin_assets/NAME` holds one object with a `plugin_name` and a
    method `assets()`, a dict from file name to contents.
    """
    for name in graph.get_collection(_COLLECTION):
        for plugin in graph.get_collection(f"{_COLLECTION}/{name}"):
            directory = filesystem.join(logdir, "plugins", plugin.plugin_name)
            filesystem.make_directories(directory)
            for file_name, contents in plugin.assets().items():
                data = contents.encode() if isinstance(contents, str) else contents
                filesystem.write_file(filesystem.join(directory, file_name), data)
