"""Commands by name: how a line is taken apart, and who answers it."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from tensorloom.debug.console.rich_text import (
    RichLine,
    rich_text_lines_from_rich_line_list,
)
from tensorloom.framework import errors
from tensorloom.storage.files.file_io import FileIO

Handler = Callable[[argparse.Namespace], str]


class CommandExit(Exception):
    """Leaves the command line; `token` is what its caller gets."""

    def __init__(self, token: Any = None) -> None:
        super().__init__()
        self.token = token


class CommandError(Exception):
    """What is said of a command that cannot be followed."""


class _Parser(argparse.ArgumentParser):
    """Raises where argparse would end the process."""

    def error(self, message: str) -> NoReturn:
        raise CommandError(f"{message}\nSee: help {self.prog}")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise CommandError(message or "")

    def print_help(self, file: Any = None) -> None:
        raise CommandError(self.format_help())


def parser(name: str, description: str) -> argparse.ArgumentParser:
    """A parser of a command's arguments."""
    return _Parser(name, description=description, add_help=True)


@dataclass(frozen=True, slots=True)
class Command:
    """A command."""

    parser: argparse.ArgumentParser
    handler: Handler
    aliases: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its full name."""
        return self.parser.prog

    def help(self) -> str:
        """What it does, and its arguments."""
        aliases = f"  Aliases: {', '.join(self.aliases)}\n" if self.aliases else ""
        lines = self.parser.format_help().partition("\n\n")[2].splitlines()
        text = "\n".join(f"  {line}".rstrip() for line in lines)
        return f"{self.name}\n{aliases}\n{text}\n"


class CommandTable:
    """The commands that there are now."""

    def __init__(self) -> None:
        self._commands: dict[str, Command] = {}
        self._by_alias: dict[str, Command] = {}
        self.intro = ""  # what `help` says first
        self.notice = ""  # what the first answer of all begins with
        told = parser("help", "Print this help message.")
        told.add_argument("command", nargs="?", help="of which command")
        self.add(Command(told, self._help, ("h",)))

    def add(self, command: Command) -> None:
        """Adds a command."""
        self._commands[command.name] = command
        for name in (command.name, *command.aliases):
            self._by_alias[name] = command

    @property
    def names(self) -> list[str]:
        """All names and aliases."""
        return sorted(self._by_alias)

    def answer(self, line: str) -> str:
        """What a line is answered by; `... > FILE` writes it to a file instead.

        Raises:
          CommandExit: the command leaves the command line.
        """
        notice, self.notice = self.notice, ""
        text = self._answer(line)
        return f"{notice}\n\n{text}" if notice else text

    def _answer(self, line: str) -> str:
        try:
            words, path = _taken_apart(line)
            if not words:
                return ""
            command = self._by_alias.get(words[0])
            if command is None:
                raise CommandError(f'Invalid command prefix "{words[0]}"')
            text = command.handler(command.parser.parse_args(words[1:]))
            if path is None:
                return text
            with FileIO(path, "w") as file:
                file.write(text + "\n")
        except CommandError as error:
            text = str(error)
            return text if text.startswith("usage:") else _error(text)
        except (LookupError, ValueError, OSError, errors.OpError) as error:
            return _error(str(error))
        return f"Wrote output to: {path}"

    def _help(self, arguments: argparse.Namespace) -> str:
        if arguments.command:
            command = self._by_alias.get(arguments.command)
            if command is None:
                raise CommandError(f'Invalid command prefix "{arguments.command}"')
            return command.help()
        told = [self._commands[name].help() for name in sorted(self._commands)]
        return "\n\n".join([self.intro, *told] if self.intro else told)


def _error(text: str) -> str:
    lines = [RichLine(line, "red") for line in f"ERROR: {text}".split("\n")]
    return rich_text_lines_from_rich_line_list(lines).styled()


def _taken_apart(line: str) -> tuple[Sequence[str], str | None]:
    """The words of a line, and the file after `>`; a slice in brackets is one word."""
    words = _joined_brackets(_words(line))
    if len(words) >= 2 and words[-2] == ">":
        return words[:-2], words[-1]
    if words and words[-1].startswith(">") and len(words[-1]) > 1:
        return words[:-1], words[-1][1:]
    return words, None


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise CommandError(f"{error}: {line}") from None


def _joined_brackets(words: Sequence[str]) -> list[str]:
    """Joins `y[0,` and `:]`, which belong together."""
    joined: list[str] = []
    for word in words:
        if joined and joined[-1].count("[") > joined[-1].count("]"):
            joined[-1] += word
        else:
            joined.append(word)
    return joined
