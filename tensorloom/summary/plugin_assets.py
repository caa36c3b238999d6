"""Files that plugins of TensorBoard want beside the events of a graph."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Final, TypeVar

from tensorloom.framework.graph.graph import Graph, get_default_graph
from tensorloom.storage.files import filesystem

# The collection of the plugins' names. That of a plugin has its name behind it.
_COLLECTION: Final = "__tensorboard_plugin_asset__"
PLUGINS_DIRECTORY: Final = "plugins"


class PluginAsset(ABC):
    """The files of a plugin for one graph; see `get_plugin_asset`."""

    #: Names the plugin, and the directory of its files.
    plugin_name: str | None = None

    @abstractmethod
    def assets(self) -> dict[str, str]:
        """The contents of each file, by its name."""


P = TypeVar("P", bound=PluginAsset)


def get_plugin_asset(plugin_asset_cls: type[P], graph: Graph | None = None) -> P:
    """The one object of that class which a graph has; made if there is none.

    Raises:
      ValueError: the class has no `plugin_name`, or another class has that name.
    """
    graph = graph or get_default_graph()
    name = plugin_asset_cls.plugin_name
    if not name:
        raise ValueError(f"Class {plugin_asset_cls.__name__} has no plugin_name")
    found = graph.get_collection(_COLLECTION + name)
    if not found:
        plugin = plugin_asset_cls()
        graph.add_to_collection(_COLLECTION + name, plugin)
        graph.add_to_collection(_COLLECTION, name)
        return plugin
    present = _only(name, found)
    if not isinstance(present, plugin_asset_cls):
        raise ValueError(
            f"Plugin name collision between classes {plugin_asset_cls.__name__} and "
            f"{type(present).__name__}"
        )
    return present


def get_all_plugin_assets(graph: Graph | None = None) -> list[Any]:
    """The objects of all plugins that a graph has.

    Raises:
      ValueError: a plugin has not exactly one.
    """
    graph = graph or get_default_graph()
    return [
        _only(name, graph.get_collection(_COLLECTION + name))
        for name in graph.get_collection(_COLLECTION)
    ]


def _only(name: str, found: list[Any]) -> Any:
    if len(found) != 1:
        raise ValueError(f"Collection for {name} had {len(found)} items, expected 1")
    return found[0]


def write_plugin_assets(graph: Graph, logdir: str) -> None:
    """Writes the files of a graph's plugins below `logdir/plugins/NAME`."""
    for plugin in get_all_plugin_assets(graph):
        directory = filesystem.join(logdir, PLUGINS_DIRECTORY, plugin.plugin_name)
        filesystem.make_directories(directory)
        for file_name, contents in plugin.assets().items():
            data = contents.encode() if isinstance(contents, str) else contents
            filesystem.write_file(filesystem.join(directory, file_name), data)
