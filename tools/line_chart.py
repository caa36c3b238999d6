"""Line charts as SVG files: for the pictures of pages."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

_WIDTH: Final = 640
_HEIGHT: Final = 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 150, 36, 48
_COLOURS: Final = ("#0b6e99", "#c2571a", "#3c7a3c", "#7a3c7a")


@dataclass(frozen=True)
class Axis:
    """One of the two axes.

    Args:
      title: what it shows, and the unit.
      ticks: where it has marks; its ends are the first and the last.
      is_log: whether equal ways are equal factors.
    """

    title: str
    ticks: Sequence[float]
    is_log: bool = False

    def part(self, value: float) -> float:
        """How far along the axis a value is, from 0 to 1."""
        low, high = self.ticks[0], self.ticks[-1]
        if self.is_log:
            low, high, value = math.log(low), math.log(high), math.log(value)
        return (value - low) / (high - low)


def draw(
    title: str, x: Axis, y: Axis, lines: Mapping[str, Sequence[tuple[float, float]]]
) -> str:
    """The text of an SVG file.

    Args:
      title: above the chart.
      x, y: the axes.
      lines: by name, their points from left to right.
    """
    width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def right(value: float) -> float:
        return round(_LEFT + width * x.part(value), 1)

    def down(value: float) -> float:
        return round(_TOP + height * (1 - y.part(value)), 1)

    bottom, middle = _TOP + height, _TOP + height / 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        'font-family="sans-serif" font-size="12" fill="#333">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        _text(_LEFT, 22, title, 'font-size="14" font-weight="bold"'),
        _text(_LEFT + width / 2, _HEIGHT - 10, x.title, 'text-anchor="middle"'),
        _text(
            16,
            middle,
            y.title,
            f'text-anchor="middle" transform="rotate(-90 16 {middle:g})"',
        ),
    ]
    for tick in x.ticks:
        parts += [
            _line(right(tick), _TOP, right(tick), bottom),
            _text(right(tick), bottom + 16, f"{tick:g}", 'text-anchor="middle"'),
        ]
    for tick in y.ticks:
        parts += [
            _line(_LEFT, down(tick), _LEFT + width, down(tick)),
            _text(_LEFT - 6, down(tick) + 4, f"{tick:g}", 'text-anchor="end"'),
        ]
    for colour, (name, points) in zip(_COLOURS, lines.items(), strict=False):
        places = [(right(a), down(b)) for a, b in points]
        way = " ".join(f"{a:g},{b:g}" for a, b in places)
        parts.append(
            f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
        parts += [
            f'<circle cx="{a:g}" cy="{b:g}" r="3" fill="{colour}"/>' for a, b in places
        ]
        a, b = places[-1]
        parts.append(_text(a + 8, b + 4, name, f'style="fill:{colour}"'))
    return "\n".join([*parts, "</svg>", ""])


def _text(x: float, y: float, text: str, more: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" {more}>{escape(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" stroke="#ddd"/>'
