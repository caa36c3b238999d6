"""`tf.flags` and `tf.app.run`: command-line flags of a TensorFlow 1 program."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any, Final, NoReturn, TypeVar

from tensorloom.framework.export import export, export_value


class FlagValues:
    """The flags of the program; parsed from `sys.argv` when one is first read."""

    def __init__(self) -> None:
        self.__dict__["_parser"] = argparse.ArgumentParser(allow_abbrev=False)
        self.__dict__["_values"] = {}
        self.__dict__["_defaults"] = {}
        self.__dict__["_required"] = set()
        self.__dict__["_parsed"] = False

    def __call__(self, argv: Sequence[str], known_only: bool = False) -> list[str]:
        """Parses `argv` (with the program's name first); returns what is left.

        Raises:
          ValueError: a required flag is missing.
        """
        known, rest = self._parser.parse_known_args(list(argv[1:]))
        self.__dict__["_parsed"] = True
        given = {k: v for k, v in vars(known).items() if k in self._defaults}
        self._values.update(given)
        for name in self._required:
            if self._values.get(name) is None:
                raise ValueError(f"Flag --{name} must have a value other than None.")
        return [argv[0], *rest]

    def _define(self, name: str, default: Any, help: str, **options: Any) -> None:
        self._defaults[name] = default
        self._values[name] = default
        self._parser.add_argument(
            f"--{name}",
            dest=name,
            default=default,
            help=(help or "").replace("%", "%%"),
            **options,
        )
        self.__dict__["_parsed"] = False

    def is_parsed(self) -> bool:
        """True once the command line was read."""
        return bool(self._parsed)

    def mark_as_parsed(self) -> None:
        """Takes the defaults as they are."""
        self.__dict__["_parsed"] = True

    def flag_values_dict(self) -> dict[str, Any]:
        """All flags by name."""
        return dict(self._values)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if not self.__dict__["_parsed"]:
            self(sys.argv)
        try:
            return self.__dict__["_values"][name]
        except KeyError:
            raise AttributeError(f"Unknown command line flag '{name}'") from None

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._values:
            raise AttributeError(f"Unknown command line flag '{name}'")
        self._values[name] = value

    def __delattr__(self, name: str) -> None:
        self._values.pop(name, None)
        self._defaults.pop(name, None)
        self._required.discard(name)

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)


FLAGS = FlagValues()
export_value(FLAGS, "flags.FLAGS", "app.flags.FLAGS")


F = TypeVar("F", bound=Callable[..., None])
# What the arguments of the `DEFINE_` functions were called before they were absl's.
_OLDER_NAMES: Final = {
    "flag_name": "name",
    "default_value": "default",
    "docstring": "help",
}


def _older_names(define: F) -> F:
    """Takes arguments under their older names, too."""

    @wraps(define)
    def with_names(*args: Any, **kwargs: Any) -> None:
        define(*args, **{_OLDER_NAMES.get(k, k): v for k, v in kwargs.items()})

    return with_names  # type: ignore[return-value]


def _values_of(args: dict[str, Any]) -> FlagValues:
    """Where a flag is defined: `FLAGS`, or what `flag_values` says."""
    found: FlagValues = args.get("flag_values", FLAGS)
    return found


def wrapped_flag_values(flags_object: FlagValues) -> FlagValues:
    """The flags themselves: all parse the command line when one is first read."""
    return flags_object


def _boolean(text: str) -> bool:
    lowered = text.lower()
    if lowered in ("true", "t", "1", "yes", "y"):
        return True
    if lowered in ("false", "f", "0", "no", "n"):
        return False
    raise argparse.ArgumentTypeError(f"not a boolean: {text!r}")


def _comma_list(text: str) -> list[str]:
    return [item.strip() for item in text.split(",")]


@export("flags.DEFINE_string", "app.flags.DEFINE_string")
@_older_names
def define_string(name: str, default: str | None, help: str, **args: Any) -> None:
    """Defines a flag whose value is text."""
    _values_of(args)._define(name, default, help, type=str)


@export("flags.DEFINE_integer", "app.flags.DEFINE_integer")
@_older_names
def define_integer(name: str, default: int | None, help: str, **args: Any) -> None:
    """Defines a flag whose value is an integer."""
    _values_of(args)._define(name, default, help, type=int)


@export("flags.DEFINE_float", "app.flags.DEFINE_float")
@_older_names
def define_float(name: str, default: float | None, help: str, **args: Any) -> None:
    """Defines a flag whose value is a number."""
    _values_of(args)._define(name, default, help, type=float)


@export(
    "flags.DEFINE_bool",
    "flags.DEFINE_boolean",
    "app.flags.DEFINE_bool",
    "app.flags.DEFINE_boolean",
)
@_older_names
def define_bool(name: str, default: bool | None, help: str, **args: Any) -> None:
    """Defines a flag that is true or false: `--name`, `--noname`, `--name=false`."""
    _values_of(args)._define(name, default, help, type=_boolean, nargs="?", const=True)
    _values_of(args)._parser.add_argument(
        f"--no{name}", dest=name, action="store_false", default=argparse.SUPPRESS
    )


@export("flags.DEFINE_enum", "app.flags.DEFINE_enum")
def define_enum(
    name: str, default: str | None, enum_values: Sequence[str], help: str, **args: Any
) -> None:
    """Defines a flag whose value is one of several words."""
    _values_of(args)._define(name, default, help, choices=list(enum_values))


@export("flags.DEFINE_list", "app.flags.DEFINE_list")
def define_list(name: str, default: Any, help: str, **args: Any) -> None:
    """Defines a flag whose value is a list, written with commas."""
    if isinstance(default, str):
        default = _comma_list(default)
    _values_of(args)._define(name, default, help, type=_comma_list)


@export("flags.DEFINE_multi_string", "app.flags.DEFINE_multi_string")
def define_multi_string(name: str, default: Any, help: str, **args: Any) -> None:
    """Defines a flag that may be given several times."""
    _values_of(args)._define(name, default, help, action="append")


@export("flags.mark_flag_as_required", "app.flags.mark_flag_as_required")
def mark_flag_as_required(name: str) -> None:
    """Makes it an error to start the program without this flag."""
    FLAGS._required.add(name)


@export("flags.mark_flags_as_required", "app.flags.mark_flags_as_required")
def mark_flags_as_required(names: Sequence[str]) -> None:
    """`mark_flag_as_required` for several."""
    FLAGS._required.update(names)


@export("app.run")
def run(
    main: Callable[[list[str]], Any] | None = None, argv: list[str] | None = None
) -> NoReturn:
    """Parses the flags, calls `main(argv)` and exits with what it returns."""
    rest = FLAGS(sys.argv if argv is None else argv)
    main = main or sys.modules["__main__"].main
    sys.exit(main(rest))
