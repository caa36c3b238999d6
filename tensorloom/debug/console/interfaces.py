"""Command lines of a program's own: over a dump, or with commands that it adds.

ui = create_analyzer_ui(tf.debug.DebugDumpDir("/tmp/dump"))
ui.register_command_handler("norm", norm, "The norm of a tensor.")
ui.run_ui(init_command="lt", title="a dump")
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.debug.console import terminal
from tensorloom.debug.console.analyzer import Analyzer
from tensorloom.debug.console.commands import (
    Command,
    CommandError,
    CommandExit,
    CommandTable,
    parser,
)
from tensorloom.debug.console.rich_text import RichTextLines
from tensorloom.debug.dumps.event_files import has_inf_or_nan

if TYPE_CHECKING:
    from tensorloom.debug.dumps.dump_dir import DebugDumpDir

CommandLineExit = CommandExit
SUPPORTED_UI_TYPES = list(terminal.UI_TYPES)


class BaseUI:
    """A command line, in lines of text."""

    _ui_type = "readline"

    def __init__(
        self, on_ui_exit: Callable[[], Any] | None = None, config: Any = None
    ) -> None:
        """Makes one without commands.

        Args:
          on_ui_exit: is called after `run_ui`.
          config: there is nothing to configure.
        """
        self._on_exit = on_ui_exit
        self._words: list[str] = []
        #: The commands.
        self.table = CommandTable()

    def set_help_intro(self, help_intro: RichTextLines | str) -> None:
        """Says what `help` begins with."""
        self.table.intro = str(help_intro)

    def register_command_handler(
        self,
        prefix: str,
        handler: Callable[..., Any],
        help_info: str,
        prefix_aliases: Sequence[str] | None = None,
    ) -> None:
        """Adds a command.

        Args:
          prefix: its name.
          handler: a function of the words after the name, which gives a
            `RichTextLines` or a string; it raises `CommandLineExit` to leave. It may
            take a keyword argument `screen_info`.
          help_info: what it does.
          prefix_aliases: other names.

        Raises:
          ValueError: a command has one of the names already, or it is empty.
          TypeError: the handler cannot be called.
        """
        names = [prefix, *(prefix_aliases or ())]
        if not all(names):
            raise ValueError("Empty command prefix")
        taken = [name for name in names if name in self.table.names]
        if taken:
            raise ValueError(
                f"A handler is already registered for command prefix {taken[0]!r}"
            )
        if not callable(handler):
            raise TypeError("handler is not callable")
        of = parser(prefix, help_info)
        of.add_argument("words", nargs=argparse.REMAINDER)
        self.table.add(Command(of, _answers(handler), tuple(names[1:])))

    def register_tab_comp_context(
        self, context_words: Sequence[str], comp_items: Sequence[str]
    ) -> None:
        """Has Tab complete more words; after any command, not only `context_words`."""
        self._words += comp_items

    def run_ui(
        self,
        init_command: str | None = None,
        title: str | None = None,
        title_color: str | None = None,
        enable_mouse_on_start: bool = True,
    ) -> Any:
        """Asks for commands until one leaves.

        Args:
          init_command: is answered before anybody was asked; `help` if it is None.
          title: is shown above all.
          title_color: is not used.
          enable_mouse_on_start: whether the mouse scrolls and clicks; the command
            `mouse` changes it.

        Returns:
          What the command gives that left; "explicit_user_exit" after `exit`.
        """
        token = terminal.converse(
            self.table,
            title or "",
            init_command or "help",
            self._words,
            self._ui_type,
            enable_mouse_on_start,
        )
        if self._on_exit is not None:
            self._on_exit()
        return token


class ReadlineUI(BaseUI):
    """A command line in lines of text."""


class CursesUI(BaseUI):
    """A command line on the whole screen; in lines where there is none."""

    _ui_type = "curses"


def _answers(handler: Callable[..., Any]) -> Callable[[argparse.Namespace], str]:
    import inspect

    try:
        takes = inspect.signature(handler).parameters
        has_screen = "screen_info" in takes or any(
            p.kind == p.VAR_KEYWORD for p in takes.values()
        )
    except ValueError:  # a function in C
        has_screen = False

    def answered(asked: argparse.Namespace) -> str:
        more = {"screen_info": {"cols": 80}} if has_screen else {}
        try:
            given = handler(asked.words, **more)
            return given.styled() if isinstance(given, RichTextLines) else str(given)
        except CommandExit:
            raise
        except (Exception, SystemExit) as error:
            # A program's own command may fail as it likes; argparse ends by SystemExit.
            raise CommandError(f"{type(error).__name__}: {error}") from error

    return answered


def get_ui(
    ui_type: str,
    on_ui_exit: Callable[[], Any] | None = None,
    available_ui_types: Sequence[str] | None = None,
    config: Any = None,
) -> BaseUI:
    """A command line of a type.

    Args:
      ui_type: "curses" or "readline".
      on_ui_exit: is called after `run_ui`.
      available_ui_types: those that may be taken; all if it is None.
      config: there is nothing to configure.

    Raises:
      ValueError: there is no such type.
    """
    if ui_type and ui_type not in (available_ui_types or SUPPORTED_UI_TYPES):
        raise ValueError(f"Invalid ui_type: '{ui_type}'")
    return (ReadlineUI if ui_type == "readline" else CursesUI)(on_ui_exit, config)


def create_analyzer_ui(
    debug_dump: DebugDumpDir,
    tensor_filters: Mapping[str, Callable[[Any, Any], bool]] | None = None,
    ui_type: str = "curses",
    on_ui_exit: Callable[[], Any] | None = None,
    config: Any = None,
) -> BaseUI:
    """A command line with the commands about a dump.

    Args:
      debug_dump: the dump.
      tensor_filters: by name, what `lt -f` can say.
      ui_type: see `get_ui`, and the others, too.

    Raises:
      ValueError: there is no such `ui_type`.
    """
    ui = get_ui(ui_type, on_ui_exit, config=config)
    analyzer = Analyzer(debug_dump, tensor_filters or {})
    analyzer.add_to(ui.table)
    ui.register_tab_comp_context([], analyzer.words)
    return ui


def show_dump(directory: str, ui_type: str = "curses", validate: bool = True) -> None:
    """Answers commands about a dump in a directory, until `exit`.

    Raises:
      IOError: there is no such directory.
      ValueError: the dump is not whole, and `validate` asks.
    """
    from tensorloom.debug.dumps.dump_dir import DebugDumpDir

    dump = DebugDumpDir(directory, validate=validate)
    ui = create_analyzer_ui(dump, {"has_inf_or_nan": has_inf_or_nan}, ui_type)
    ui.run_ui(init_command="lt", title=f"tfdbg offline @ {directory}")


def main(_: Any = None) -> None:
    """`show_dump` of what flags say: `--dump_dir`, `--ui_type`, `--validate_graph`.

    Raises:
      SystemExit: there is no `--dump_dir`.
    """
    of = argparse.ArgumentParser()
    of.add_argument("--dump_dir", default="", help="tfdbg dump directory to load")
    of.add_argument("--ui_type", default="curses", help="curses or readline")
    of.add_argument(
        "--validate_graph",
        nargs="?",
        const=True,
        default=True,
        type=lambda text: text.lower() == "true",
        help="whether the dump must be whole",
    )
    asked, _others = of.parse_known_args()
    if not asked.dump_dir:
        print("ERROR: dump_dir flag is empty.", file=sys.stderr)
        sys.exit(1)
    print(f"tfdbg offline: FLAGS.dump_dir = {asked.dump_dir}")
    show_dump(asked.dump_dir, asked.ui_type, asked.validate_graph)
