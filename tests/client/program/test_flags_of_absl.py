"""Flags of a program that imports absl, too. A module stands for absl's."""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.client.program import program_flags


class _Values:
    """What the wrapper asks of `absl.flags.FLAGS`."""

    def __init__(self) -> None:
        self.__dict__.update(values={}, required=set(), parsed=False)

    def __call__(self, argv: list[str], known_only: bool = False) -> list[str]:
        self.__dict__["parsed"] = True
        for text in argv[1:]:
            name, _, value = text.lstrip("-").partition("=")
            if name in self.values:
                self.values[name] = value
            elif not known_only:
                raise KeyError(name)
        return [argv[0]]

    def is_parsed(self) -> bool:
        return bool(self.parsed)

    def __getattr__(self, name: str) -> Any:
        return self.__dict__["values"][name]

    def __setattr__(self, name: str, value: Any) -> None:
        self.values[name] = value

    def __contains__(self, name: str) -> bool:
        return name in self.values


@pytest.fixture
def flags(monkeypatch: pytest.MonkeyPatch) -> program_flags.FlagValuesWrapper:
    """The flags of a program of which absl is not imported yet."""
    wrapper = program_flags.FlagValuesWrapper(program_flags.FlagValues())
    monkeypatch.setattr(program_flags, "FLAGS", wrapper)
    monkeypatch.delitem(sys.modules, "absl.flags", raising=False)
    return wrapper


@pytest.fixture
def absl() -> ModuleType:
    module, values = ModuleType("absl.flags"), _Values()

    def define(name: str, default: Any, help: str) -> str:
        values.values[name] = default
        return f"holder of {name}"

    vars(module).update(
        FLAGS=values,
        DEFINE_string=define,
        DEFINE_integer=define,
        DEFINE_spaceseplist=define,
        mark_flags_as_required=values.required.update,
    )
    return module


def test_the_flags_are_those_of_absl_once_it_is_imported(
    flags: Any, absl: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["program", "--early=e", "--late=l"])
    tf.flags.DEFINE_string("early", default_value="a", docstring="before absl")
    tf.flags.mark_flag_as_required("early")
    assert list(flags) == ["early"]
    monkeypatch.setitem(sys.modules, "absl.flags", absl)
    assert tf.flags.DEFINE_string("late", "b", docstring="after") == "holder of late"
    assert "late" in flags
    assert (flags.early, flags.late) == ("e", "l")
    assert absl.FLAGS.values == {"early": "e", "late": "l"}
    assert absl.FLAGS.required == {"early"}
    flags.late = "c"
    assert absl.FLAGS.late == "c"


def test_the_program_runs_with_absl(
    flags: Any, absl: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[Any] = []

    def run(main: Any, argv: Any, flags_parser: Any) -> None:
        ran.append(main(flags_parser(["program", "--n=4", "--unknown=5"])))

    monkeypatch.setitem(sys.modules, "absl.flags", absl)
    monkeypatch.setitem(sys.modules, "absl.app", SimpleNamespace(run=run))  # type: ignore[arg-type]
    tf.flags.DEFINE_integer("n", 3, "a number")
    with pytest.raises(SystemExit):
        tf.app.run(lambda argv: (argv, flags.n))
    assert ran == [(["program"], "4")]


def test_names_that_are_only_in_absl(
    absl: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "absl", ModuleType("absl"))
    monkeypatch.setitem(sys.modules, "absl.flags", absl)
    assert tf.flags.DEFINE_spaceseplist is absl.DEFINE_spaceseplist
    assert tf.app.flags.DEFINE_spaceseplist is absl.DEFINE_spaceseplist
    with pytest.raises(AttributeError):
        _ = tf.flags.DEFINE_nothing
    monkeypatch.setitem(sys.modules, "absl.flags", None)  # type: ignore[arg-type]
    with pytest.raises(AttributeError, match="install absl-py"):
        _ = tf.flags.DEFINE_enum_class


def test_programs_look_into_the_flags_and_take_them_out(flags: Any) -> None:
    tf.flags.DEFINE_integer("steps", 3, "how many")
    assert {name: flag.value for name, flag in flags.__flags.items()} == {"steps": 3}
    for name in list(flags._flags()):
        delattr(flags, name)
    tf.flags.DEFINE_integer("steps", 5, "defined anew, as notebooks do")
    assert flags.__flags["steps"].value == flags.steps == 5


def test_other_flags_than_the_program_s_stay_apart(
    flags: Any, absl: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "absl.flags", absl)
    for value in ("a", "b"):
        other = program_flags.FlagValuesWrapper(program_flags.FlagValues())
        tf.flags.DEFINE_string("same", value, "in several", flag_values=other)
        monkeypatch.setattr(sys, "argv", ["program"])
        assert other.same == value
    assert absl.FLAGS.values == {}
