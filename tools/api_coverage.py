"""How much of TensorFlow 1.15's public API exists here, and whether calls fit.

    PYTHONPATH=. python tools/api_coverage.py            the table
    PYTHONPATH=. python tools/api_coverage.py -v tf.nn   what is missing or differs
    PYTHONPATH=. python tools/api_coverage.py --contrib  of tf.contrib's packages

Compares `tests/recorded/api_1_15.json` (see record_api.py) with tensorloom. A
signature fits if every call that TensorFlow accepts is accepted and means the same: its
parameters under its names, in its order, with its defaults; ours may have further
optional ones.
"""

from __future__ import annotations

import argparse
import inspect
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tensorloom
from tools import record_api

_RECORDED = Path(__file__).resolve().parents[1] / "tests/recorded"
RECORD = _RECORDED / "api_1_15.json"
CONTRIB_RECORD = _RECORDED / "api_contrib_1_15.json"
_MISSING = object()


@dataclass
class Coverage:
    """What was found for the symbols of one module."""

    present: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    # Symbol or `Class.member` -> what does not fit.
    different: dict[str, str] = field(default_factory=dict)


def load_record(path: Path = RECORD) -> dict[str, dict[str, Any]]:
    """The recorded API: public name -> description."""
    record: dict[str, dict[str, Any]] = json.loads(path.read_text())
    return record


def module_of(name: str) -> str:
    """`tf.nn` for `nn.relu`, `tf` for `add`."""
    return ".".join(["tf", *name.split(".")[:-1]])


def find(name: str) -> Any:
    """Our object of that public name, or `_MISSING`."""
    value: Any = tensorloom
    for part in name.split("."):
        value = getattr(value, part, _MISSING)
    return value


def measure(record: dict[str, dict[str, Any]]) -> dict[str, Coverage]:
    """Coverage of each module of the record."""
    modules: dict[str, Coverage] = {}
    for name, theirs in record.items():
        coverage = modules.setdefault(module_of(name), Coverage())
        ours = find(name)
        if ours is _MISSING:
            coverage.missing.append(name)
            continue
        coverage.present.append(name)
        coverage.different.update(differences(name, theirs, ours))
    return modules


def differences(
    name: str, theirs: dict[str, Any], ours: Any
) -> Iterator[tuple[str, str]]:
    """(symbol, what differs) of one recorded symbol."""
    kind = theirs["kind"]
    if kind == "function":
        problem: str | None = "not callable"
        if callable(ours):
            problem = misfit(theirs["signature"], _signature(ours))
        if problem:
            yield name, problem
    elif kind == "class":
        if not inspect.isclass(ours):
            yield name, "not a class"
            return
        for member, description in theirs["members"].items():
            if problem := _member_problem(ours, member, description):
                yield f"{name}.{member}", problem
    elif kind == "value" and not theirs["repr"].startswith("<"):
        found = record_api.describe_default(ours)
        if found != theirs["repr"]:
            yield name, f"{found}, expected {theirs['repr']}"


def misfit(theirs: list[str] | None, ours: list[str] | None) -> str | None:
    """Why calls written for `theirs` do not fit `ours`; None if they do."""
    if theirs is None or ours is None:
        return None
    theirs, ours = _from_outside(theirs), _from_outside(ours)
    # A wrapper that takes anything does not tell what it accepts.
    if _takes_anything(ours) or _takes_anything(theirs):
        return None
    shown = f"({', '.join(ours)}), expected ({', '.join(theirs)})"
    expected = [item for item in theirs if not item.startswith("*")]
    catch_alls = [item for item in theirs if item.startswith("*")]
    if len(_positional(ours)) < len(expected) and not set(expected) <= set(ours):
        return shown
    for mine, recorded in zip(ours, expected, strict=False):
        if not _same_parameter(mine, recorded):
            return shown
    extra = [item for item in ours[len(expected) :] if not item.startswith("*")]
    if any("=" not in item for item in extra):
        return shown
    stars = {item.count("*") for item in ours if item.startswith("*")}
    if any(item.count("*") not in stars for item in catch_alls) and expected:
        return shown
    return None


def _from_outside(signature: list[str]) -> list[str]:
    """A method's signature as its callers see it: what it is called on is `self`."""
    if signature and signature[0] in ("instance", "cls"):
        return ["self", *signature[1:]]
    return signature


def _takes_anything(signature: list[str]) -> bool:
    names = [item for item in signature if item != "self"]
    return [item.count("*") for item in names] == [1, 2]


def _positional(signature: list[str]) -> list[str]:
    return [item for item in signature if not item.startswith("*")]


def _same_parameter(ours: str, theirs: str) -> bool:
    name, _, default = ours.partition("=")
    recorded_name, _, recorded_default = theirs.partition("=")
    if name != recorded_name:
        return False
    if recorded_default.startswith("<") or not recorded_default:
        # Required there, optional here; or an object that text cannot compare.
        return bool(default) or not recorded_default
    return default == recorded_default or _equal_numbers(default, recorded_default)


def _equal_numbers(a: str, b: str) -> bool:
    try:
        return float(a) == float(b)
    except ValueError:
        return False


def _signature(function: Any) -> list[str] | None:
    signature: list[str] | None = record_api.describe_signature(function)
    return signature


def _member_problem(owner: type, name: str, description: Any) -> str | None:
    raw = inspect.getattr_static(owner, name, _MISSING)
    if raw is _MISSING and not hasattr(owner, name):
        is_data = not isinstance(description, list)
        return None if is_data and _sets_in_init(owner, name) else "missing"
    if not isinstance(description, list):
        return None
    value = getattr(owner, name)
    if not callable(value):
        return "not a method"
    ours = _signature(value)
    if name.startswith("__") and name not in ("__init__", "__call__"):
        return None  # called by Python, not by name
    return misfit(description, ours)


def _sets_in_init(owner: type, name: str) -> bool:
    """Whether a constructor mentions the attribute, which the class does not have."""
    constructors = [base.__dict__.get("__init__") for base in owner.__mro__]
    codes = [getattr(function, "__code__", None) for function in constructors]
    return any(code is not None and name in code.co_names for code in codes)


def print_table(modules: dict[str, Coverage]) -> None:
    """A row a module: symbols, present, with differences; the sum of all last."""
    print(f"{'module':44} {'symbols':>8} {'present':>8} {'%':>5} {'differ':>7}")
    whole = Coverage()
    for module, coverage in sorted(modules.items()):
        _print_row(module, coverage)
        whole.present += coverage.present
        whole.missing += coverage.missing
        whole.different.update(coverage.different)
    _print_row("all", whole)


def _print_row(module: str, coverage: Coverage) -> None:
    present, total = len(coverage.present), len(coverage.present)
    total += len(coverage.missing)
    percent = 100 * present // total
    differ = len(coverage.different)
    print(f"{module:44} {total:8} {present:8} {percent:5} {differ:7}")


def main() -> None:
    """Prints the table, or with -v the details of modules."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("-v", "--verbose", nargs="+", default=[], metavar="MODULE")
    parser.add_argument("--contrib", action="store_true", help="of tf.contrib")
    arguments = parser.parse_args()
    record = load_record(CONTRIB_RECORD if arguments.contrib else RECORD)
    modules = measure(record)
    if not arguments.verbose:
        print_table(modules)
    for module in arguments.verbose:
        coverage = modules[module]
        print(f"{module}: missing {', '.join(coverage.missing)}")
        for name, problem in coverage.different.items():
            print(f"  {name}: {problem}")


if __name__ == "__main__":
    main()
