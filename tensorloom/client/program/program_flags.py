"""`tf.flags` and `tf.app.run`: command-line flags of a TensorFlow 1 program.

TensorFlow's flags are those of the library absl. In a program that imports absl they
are here, too: what it defines through either is one set of flags, parsed once. Other
programs need no absl.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any, Final, NoReturn, TypeVar

from tensorloom.framework.export import export, export_value


@export("flags.ArgumentParser", "app.flags.ArgumentParser")
class ArgumentParser:
    """Makes the value of a flag of its text: the text itself."""

    syntactic_help = ""

    def parse(self, argument: str) -> Any:
        """The value."""
        return argument

    def flag_type(self) -> str:
        """What the values are called in a help text."""
        return "string"


@export("flags.ArgumentSerializer", "app.flags.ArgumentSerializer")
class ArgumentSerializer:
    """Makes the text of a flag's value."""

    def serialize(self, value: Any) -> str:
        """The text."""
        return str(value)


@export("flags.Flag", "app.flags.Flag")
class Flag:
    """One flag.

    Args:
      parser, serializer: between texts and values.
      name: without the dashes.
      default: the value if the command line has none.
      help_string: what it is for.
    """

    def __init__(
        self,
        parser: Any,
        serializer: Any,
        name: str,
        default: Any,
        help_string: str | None,
        **options: Any,
    ) -> None:
        self.parser, self.serializer = parser, serializer
        self.name, self.help = name, help_string or ""
        self.default = self.value = default
        #: How often the command line has it.
        self.present = 0
        self.options = options


@export("flags.FlagValues", "app.flags.FlagValues")
class FlagValues:
    """The flags of the program; parsed from `sys.argv` when one is first read."""

    def __init__(self) -> None:
        # A flag that was taken out may be defined anew.
        self.__dict__["_parser"] = argparse.ArgumentParser(
            allow_abbrev=False, conflict_handler="resolve"
        )
        self.__dict__["_by_name"] = {}
        self.__dict__["_required"] = set()
        self.__dict__["_parsed"] = False

    def __call__(self, argv: Sequence[str], known_only: bool = False) -> list[str]:
        """Parses `argv` (with the program's name first); returns what is left.

        Raises:
          ValueError: a required flag is missing.
        """
        known, rest = self._parser.parse_known_args(list(argv[1:]))
        self.__dict__["_parsed"] = True
        for name, value in vars(known).items():
            flag = self._by_name.get(name)  # None for one that was taken out
            if flag is not None:
                flag.value = value
                flag.present = int(value != flag.default)
        for name in self._required:
            if name not in self._by_name or self._by_name[name].value is None:
                raise ValueError(f"Flag --{name} must have a value other than None.")
        return [argv[0], *rest]

    def _define(self, name: str, default: Any, help: str, **options: Any) -> None:
        parts = ArgumentParser(), ArgumentSerializer()
        self._by_name[name] = Flag(*parts, name, default, help)
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
        return {name: flag.value for name, flag in self._by_name.items()}

    def _flags(self) -> dict[str, Flag]:
        """All flags by name; programs take out what they mean to define anew."""
        return self.__dict__["_by_name"]  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> Any:
        if name == "__flags":
            return self._flags()
        if name.startswith("__"):
            raise AttributeError(name)
        if not self.__dict__["_parsed"]:
            self(sys.argv)
        return self._flag(name).value

    def _flag(self, name: str) -> Flag:
        found: Flag | None = self.__dict__["_by_name"].get(name)
        if found is None:
            raise AttributeError(f"Unknown command line flag '{name}'")
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        self._flag(name).value = value

    def __delattr__(self, name: str) -> None:
        self._by_name.pop(name, None)
        self._required.discard(name)

    def __getitem__(self, name: str) -> Flag:
        found: Flag = self._by_name[name]
        return found

    def __setitem__(self, name: str, flag: Flag) -> None:
        options = {"type": flag.parser.parse} if flag.parser is not None else {}
        self._define(name, flag.default, flag.help, **options)
        self._by_name[name] = flag

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def __len__(self) -> int:
        return len(self._by_name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __dir__(self) -> list[str]:
        return sorted(self._by_name)


class FlagValuesWrapper:
    """Flags that all parse the command line when one is first read.

    `FLAGS`, those of the program, are absl's in a program that imports absl.
    """

    def __init__(self, flags_object: Any) -> None:
        self.__dict__["_own"] = flags_object
        # Definitions so far, for absl: name of the function, its arguments.
        self.__dict__["_definitions"] = []

    def store(self) -> Any:
        """Where the flags are now. Those defined before absl came move there."""
        absl = _loaded_absl()
        if absl is None or self is not FLAGS:
            return self.__dict__["_own"]
        definitions = self.__dict__["_definitions"]
        while definitions:
            name, args, kwargs = definitions.pop(0)
            getattr(absl, name)(*args, **kwargs)
        return absl.FLAGS

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.store()(*args, **kwargs)

    def _flags(self) -> Any:
        return self.store()._flags()

    def __getattr__(self, name: str) -> Any:
        if name == "__flags":
            return self._flags()
        if name.startswith("_"):
            return getattr(self.__dict__["_own"], name)
        store = self.store()
        if not store.is_parsed():
            store(sys.argv)
        return getattr(store, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.store(), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self.store(), name)

    def __getitem__(self, name: str) -> Any:
        return self.store()[name]

    def __setitem__(self, name: str, flag: Any) -> None:
        self.store()[name] = flag

    def __contains__(self, name: str) -> bool:
        return name in self.store()

    def __len__(self) -> int:
        return len(self.store())

    def __iter__(self) -> Iterator[str]:
        return iter(self.store())

    def __dir__(self) -> list[str]:
        return dir(self.store())


def _loaded_absl() -> Any:
    """`absl.flags`, once the program has imported it."""
    return sys.modules.get("absl.flags")


def name_of_absl(name: str) -> Any:
    """A name of `absl.flags` that is not declared here, for `tf.flags`.

    Raises:
      AttributeError: absl is not installed, or has no such name.
    """
    try:
        return getattr(importlib.import_module("absl.flags"), name)
    except ImportError:
        raise AttributeError(
            f"there is no tf.flags.{name}; where it is a name of absl.flags, install "
            "absl-py"
        ) from None


FLAGS = FlagValuesWrapper(FlagValues())
export_value(FLAGS, "flags.FLAGS", "app.flags.FLAGS")


F = TypeVar("F", bound=Callable[..., Any])
# What the arguments of the `DEFINE_` functions were called before they were absl's.
_OLDER_NAMES: Final = {
    "flag_name": "name",
    "default_value": "default",
    "docstring": "help",
}


def _older_names(define: F) -> F:
    """Takes arguments under their older names, too."""

    @wraps(define)
    def with_names(*args: Any, **kwargs: Any) -> Any:
        kwargs = {_OLDER_NAMES.get(k, k): v for k, v in kwargs.items()}
        return _define_once(define, args, kwargs)

    return with_names  # type: ignore[return-value]


def _define_once(
    define: Callable[..., None], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Defines a flag of the program where its flags are, or one of `flag_values`."""
    values = kwargs.pop("flag_values", FLAGS)
    if values is not FLAGS:
        if isinstance(values, FlagValuesWrapper):
            values = values.store()
        return define(*args, flag_values=values, **kwargs)
    # define_bool -> DEFINE_bool
    name = define.__name__.replace("define", "DEFINE", 1)
    if FLAGS.store() is not FLAGS.__dict__["_own"]:
        return getattr(_loaded_absl(), name)(*args, **kwargs)
    FLAGS.__dict__["_definitions"].append((name, args, kwargs))
    return define(*args, **kwargs)


def _values_of(args: dict[str, Any]) -> Any:
    """Where a flag is defined: `FLAGS`, or what `flag_values` says."""
    return args.get("flag_values", FLAGS)


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
@_older_names
def define_enum(
    name: str, default: str | None, enum_values: Sequence[str], help: str, **args: Any
) -> None:
    """Defines a flag whose value is one of several words."""
    _values_of(args)._define(name, default, help, choices=list(enum_values))


@export("flags.DEFINE_list", "app.flags.DEFINE_list")
@_older_names
def define_list(name: str, default: Any, help: str, **args: Any) -> None:
    """Defines a flag whose value is a list, written with commas."""
    if isinstance(default, str):
        default = _comma_list(default)
    _values_of(args)._define(name, default, help, type=_comma_list)


@export("flags.DEFINE_multi_string", "app.flags.DEFINE_multi_string")
@_older_names
def define_multi_string(name: str, default: Any, help: str, **args: Any) -> None:
    """Defines a flag that may be given several times."""
    _values_of(args)._define(name, default, help, action="append")


@export("flags.mark_flag_as_required", "app.flags.mark_flag_as_required")
def mark_flag_as_required(name: str) -> None:
    """Makes it an error to start the program without this flag."""
    mark_flags_as_required([name])


@export("flags.mark_flags_as_required", "app.flags.mark_flags_as_required")
def mark_flags_as_required(names: Sequence[str]) -> None:
    """`mark_flag_as_required` for several."""
    if FLAGS.store() is not FLAGS.__dict__["_own"]:
        _loaded_absl().mark_flags_as_required(names)
        return
    FLAGS._required.update(names)
    FLAGS.__dict__["_definitions"].append(("mark_flags_as_required", (names,), {}))


@export("app.run")
def run(
    main: Callable[[list[str]], Any] | None = None, argv: list[str] | None = None
) -> NoReturn:
    """Parses the flags, calls `main(argv)` and exits with what it returns."""
    main = main or sys.modules["__main__"].main
    if _loaded_absl() is not None:
        _run_with_absl(main, argv)
    rest = FLAGS(sys.argv if argv is None else argv)
    sys.exit(main(rest))


def _run_with_absl(
    main: Callable[[list[str]], Any], argv: list[str] | None
) -> NoReturn:
    """`absl.app.run`, which leaves flags that nobody defined in `argv`."""

    def parsed(args: list[str]) -> Any:
        return FLAGS(sys.argv if args is None else args, known_only=True)

    importlib.import_module("absl.app").run(main=main, argv=argv, flags_parser=parsed)
    sys.exit(0)
