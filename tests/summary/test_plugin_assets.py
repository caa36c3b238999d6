"""The files of plugins beside a graph's events."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import tensorloom as tf
from tensorloom.summary.plugin_assets import (
    PluginAsset,
    get_all_plugin_assets,
    get_plugin_asset,
)

if TYPE_CHECKING:
    from pathlib import Path


class _Sprites(PluginAsset):
    plugin_name: str | None = "sprites"

    def assets(self) -> dict[str, str]:
        return {"sprites.txt": "a sprite"}


class _Others(_Sprites):
    plugin_name = "others"


class _Same(PluginAsset):
    plugin_name = "sprites"

    def assets(self) -> dict[str, str]:
        return {}


class _Unnamed(_Sprites):
    plugin_name = None


def test_a_graph_has_one_object_of_each_plugin(tmp_path: Path) -> None:
    graph = tf.Graph()
    sprites = get_plugin_asset(_Sprites, graph)
    assert get_plugin_asset(_Sprites, graph) is sprites
    assert get_plugin_asset(_Sprites, tf.Graph()) is not sprites
    others = get_plugin_asset(_Others, graph)
    assert get_all_plugin_assets(graph) == [sprites, others]
    tf.summary.FileWriter(str(tmp_path), graph).close()
    written = tmp_path / "plugins/sprites/sprites.txt"
    assert written.read_text() == "a sprite"


def test_plugins_have_names_of_their_own() -> None:
    graph = tf.Graph()
    get_plugin_asset(_Sprites, graph)
    with pytest.raises(ValueError, match="collision between classes _Same and"):
        get_plugin_asset(_Same, graph)
    with pytest.raises(ValueError, match="_Unnamed has no plugin_name"):
        get_plugin_asset(_Unnamed, graph)
