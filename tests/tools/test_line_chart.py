"""Line charts as SVG files."""

from __future__ import annotations

from xml.etree import ElementTree

from tools.line_chart import Axis, draw


def test_points_are_where_the_axes_say() -> None:
    text = draw(
        "A <chart>",
        Axis("x", (1, 10, 100), is_log=True),
        Axis("y", (0.0, 1.0)),
        {"rises": [(1, 0.0), (10, 0.5), (100, 1.0)], "stays": [(1, 1.0), (100, 1.0)]},
    )
    root = ElementTree.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    rises, stays = (line.get("points") for line in root.iter(f"{space}polyline"))
    places = [tuple(map(float, pair.split(","))) for pair in str(rises).split()]
    (left, bottom), middle, (right, top) = places
    assert middle == ((left + right) / 2, (top + bottom) / 2)
    assert left < right
    assert top < bottom
    assert stays == f"{left:g},{top:g} {right:g},{top:g}"
    texts = [found.text for found in root.iter(f"{space}text")]
    assert {"A <chart>", "x", "y", "rises", "stays", "10"} <= set(texts)
