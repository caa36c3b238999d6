"""The commands that were given, to go back and forth between their answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from tensorloom.debug.console.rich_text import (
    MenuItem,
    RichLine,
    RichTextLines,
    rich_text_lines_from_rich_line_list,
)


@dataclass
class NavigationHistoryItem:
    """A command, its answer, and how far it was scrolled."""

    command: str
    screen_output: Any
    scroll_position: int


class CursesNavigationHistory:
    """The last commands, and one of them that is shown."""

    BACK_ARROW_TEXT: Final = "<--"
    FORWARD_ARROW_TEXT: Final = "-->"

    def __init__(self, capacity: int) -> None:
        """Makes an empty one of at most so many commands.

        Raises:
          ValueError: `capacity` is not positive.
        """
        if capacity <= 0:
            raise ValueError(f"In valid capacity value: {capacity}")
        self._capacity = capacity
        self._items: list[NavigationHistoryItem] = []
        self._at = -1

    def add_item(self, command: str, screen_output: Any, scroll_position: int) -> None:
        """Adds a command behind the one that is shown; those after that are dropped."""
        kept = self._items[: self._at + 1]
        kept.append(NavigationHistoryItem(command, screen_output, scroll_position))
        self._items = kept[-self._capacity :]
        self._at = len(self._items) - 1

    def update_scroll_position(self, new_scroll_position: int) -> None:
        """Notes how far the shown answer is scrolled.

        Raises:
          ValueError: there is no command.
        """
        self._shown().scroll_position = new_scroll_position

    def size(self) -> int:
        """How many commands there are."""
        return len(self._items)

    def pointer(self) -> int:
        """Which one is shown; -1: none."""
        return self._at

    def go_back(self) -> NavigationHistoryItem:
        """Shows the one before, if there is one. Raises ValueError if there is none."""
        self._shown()
        self._at -= self.can_go_back()
        return self._shown()

    def go_forward(self) -> NavigationHistoryItem:
        """Shows the next one, if there is one. Raises ValueError if there is none."""
        self._shown()
        self._at += self.can_go_forward()
        return self._shown()

    def can_go_back(self) -> bool:
        """Whether there is one before."""
        return self._at >= 1

    def can_go_forward(self) -> bool:
        """Whether there is a next one."""
        return self._at + 1 < len(self._items)

    def render(
        self,
        max_length: int,
        backward_command: str,
        forward_command: str,
        latest_command_attribute: Any = "black_on_white",
        old_command_attribute: Any = "magenta_on_white",
    ) -> RichTextLines:
        """The bar: arrows that can be clicked, and the command that is shown.

        Args:
          max_length: the command is cut off at so many columns.
          backward_command, forward_command: what clicks on the arrows run.
          latest_command_attribute: of the command, if it is the last one.
          old_command_attribute: of the others.
        """
        back = MenuItem(None, backward_command) if self.can_go_back() else None
        on = MenuItem(None, forward_command) if self.can_go_forward() else None
        bar = RichLine("| ") + RichLine(self.BACK_ARROW_TEXT, back)
        bar = bar + " " + RichLine(self.FORWARD_ARROW_TEXT, on)
        if self._items:
            behind = len(self._items) - 1 - self._at
            colour = old_command_attribute if behind else latest_command_attribute
            bar = bar + " | "
            if behind:
                bar = bar + RichLine(f"(-{behind}) ", colour)
            if len(bar) < max_length:
                command = self._shown().command[: max_length - len(bar)]
                bar = bar + RichLine(command, colour)
        return rich_text_lines_from_rich_line_list([bar])

    def _shown(self) -> NavigationHistoryItem:
        if not self._items:
            raise ValueError("Empty navigation history")
        return self._items[self._at]
