"""The full-screen command line in a terminal."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time

import pytest

PROGRAM = """
import tensorloom as tf
sess = tf.debug.LocalCLIDebugWrapperSession(tf.Session(), ui_type="curses")
y = tf.add(tf.constant([1.0, 2.0]), 40.0, name="y")
print("gives", sess.run(y))
tf.debugging.check_numerics(tf.log(y - 100.0), "bad", name="check")
sess.run("check:0")
"""
_LONG_S = 120.0


class _Terminal:
    """A program in a terminal of its own."""

    def __init__(self, program: str, term: str) -> None:
        self._master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**os.environ, "TERM": term, "LINES": "40", "COLUMNS": "100"},
        )
        os.close(slave)
        self.seen = ""

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def wait_for(self, pattern: str) -> None:
        """Reads until a pattern comes after what was waited for before."""
        end = time.monotonic() + _LONG_S
        while True:
            # Escapes move the cursor, also over blanks.
            plain = re.sub(r"\x1b(\[[0-9;?]*[A-Za-z]|[()].|[=>])", " ", self.seen)
            found = re.search(pattern, plain)
            if found:
                self.seen = plain[found.end() :]
                return
            left = end - time.monotonic()
            if left < 0 or not select.select([self._master], [], [], left)[0]:
                raise AssertionError(f"no {pattern} in {plain!r}")
            try:
                self.seen += os.read(self._master, 65536).decode(errors="replace")
            except OSError:  # the program has ended
                raise AssertionError(f"no {pattern} in {plain!r}") from None

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._master)


@pytest.mark.slow
@pytest.mark.parametrize("term", ["xterm", "dumb"])
def test_a_debugged_program(term: str) -> None:
    terminal = _Terminal(PROGRAM, term)
    try:
        terminal.wait_for(r"run-start: run #1")
        terminal.wait_for(r"tfdbg>")
        terminal.type("run\r")
        terminal.wait_for(r"dumped tensor\(s\)")
        terminal.type("pt y:0\r")
        terminal.wait_for(r"41\., 42\.")
        if term == "xterm":
            terminal.type("/dtype\r")
            terminal.wait_for(r"lines match")
        terminal.type("run\r")
        terminal.wait_for(r"gives \[41\. 42\.\]")
        terminal.wait_for(r"!!! An error occurred during the run !!!")
        terminal.type("exit\r")
        terminal.wait_for(r"user exited from debugger CLI")
        assert terminal.process.wait(timeout=_LONG_S) == 1
    finally:
        terminal.close()


COLOURED = """
import tensorloom as tf
from tensorloom.python.debug.cli import curses_ui, debugger_cli_common as common
ui = curses_ui.CursesUI()
line = common.RichLine("LINK", [common.MenuItem(None, "again"), "red"])
rows = [line] + [f"row {i}" for i in range(90)]
shown = common.rich_text_lines_from_rich_line_list(rows)
ui.register_command_handler("colours", lambda words: shown, "Colours.")
ui.register_command_handler("again", lambda words: "CLICKED", "Again.")
ui.run_ui(init_command="colours", title="a title")
print("left")
"""


@pytest.mark.slow
def test_the_mouse_and_colours() -> None:
    terminal = _Terminal(COLOURED, "xterm-256color")
    try:
        terminal.wait_for("LINK")
        terminal.wait_for("tfdbg>")
        terminal.type("\x1b[<65;6;6M")  # the wheel, down and up
        terminal.wait_for(r"row 38")
        terminal.type("\x1b[<64;6;6M")
        terminal.wait_for("LINK")
        terminal.type("\x1b[<0;2;2M")  # the first button, on the link
        terminal.wait_for("CLICKED")
        terminal.type("mouse off\r")
        terminal.wait_for("The mouse is off")
        terminal.type("exit\r")
        terminal.wait_for("left")
    finally:
        terminal.close()
