"""`tensorloom checkpoint`: looks into checkpoints, compares and rewrites them."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tensorloom.cli.actions import FINE, PROBLEMS, Action, group, progress, show, table

if TYPE_CHECKING:
    from tensorloom.storage.checkpoints.bundle_writer import BundleWriter
    from tensorloom.storage.checkpoints.checkpoints import Reader

_PATH_HELP = "a checkpoint's prefix, one of its files, or its directory (the latest)"


def _open(path: str) -> tuple[str, Reader]:
    from tensorloom.inspect.model_files import checkpoint_prefix
    from tensorloom.storage.checkpoints import checkpoints

    prefix = checkpoint_prefix(path)
    if prefix is None:
        raise checkpoints.not_found(path)
    return prefix, checkpoints.open_anywhere(prefix)


def _text(name: bytes) -> str:
    return name.decode("utf-8", "backslashreplace")


def _facts(reader: Reader) -> dict[str, dict[str, Any]]:
    dtypes, shapes = reader.dtypes(), reader.shapes()
    return {
        _text(name): {"dtype": dtypes[name].name, "shape": list(shapes[name])}
        for name in sorted(shapes)
    }


def _stored(reader: Reader, key: bytes) -> Any:
    """Dtype, shape and bytes of a tensor whose values only TensorFlow 2 can read.

    None for all others.
    """
    from tensorloom.storage.checkpoints.bundle_reader import BundleReader
    from tensorloom.storage.checkpoints.later_dtypes import LaterDType

    if isinstance(reader, BundleReader):
        dtype = reader.stored_dtype(key)
        if isinstance(dtype, LaterDType):
            return dtype, *reader.read_stored(key)
    return None


# --- show ----------------------------------------------------------------------------


def _add_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help=_PATH_HELP)
    parser.add_argument(
        "--tensor",
        action="append",
        default=[],
        metavar="NAME",
        help="show the values of this tensor (may be repeated)",
    )


def _show(options: argparse.Namespace) -> int:
    prefix, reader = _open(options.path)
    with reader:
        if options.tensor:
            values = {name: reader.read(name.encode()) for name in options.tensor}
            show(
                options,
                values,
                (f"{name}\n{value}" for name, value in values.items()),
            )
            return FINE
        facts = _facts(reader)
    elements = sum(_size(fact["shape"]) for fact in facts.values())
    show(
        options,
        {"path": prefix, "elements": elements, "tensors": facts},
        _show_lines(prefix, facts, elements),
    )
    return FINE


def _show_lines(prefix: str, facts: dict[str, Any], elements: int) -> Iterator[str]:
    yield from table(
        [(name, fact["dtype"], str(fact["shape"])) for name, fact in facts.items()]
    )
    yield f"{len(facts)} tensors, {elements} elements in {prefix}"


def _size(shape: list[int]) -> int:
    result = 1
    for size in shape:
        result *= size
    return result


# --- diff ----------------------------------------------------------------------------


def _add_diff(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", metavar="A", help=_PATH_HELP)
    parser.add_argument("second", metavar="B", help="the other one")
    parser.add_argument(
        "--tolerance",
        type=float,
        default=0.0,
        help="how far values may be apart (default: 0)",
    )
    parser.add_argument(
        "--names-only", action="store_true", help="do not compare the values"
    )


def _diff(options: argparse.Namespace) -> int:
    first_prefix, first = _open(options.first)
    second_prefix, second = _open(options.second)
    with first, second:
        mine, theirs = _facts(first), _facts(second)
        result: dict[str, Any] = {
            "first": first_prefix,
            "second": second_prefix,
            "only_in_first": [name for name in mine if name not in theirs],
            "only_in_second": [name for name in theirs if name not in mine],
            "different": {},
        }
        common = [name for name in mine if name in theirs]
        with progress("compare", len(common)) as step:
            for name in common:
                step(name, 1)
                difference = _difference(name, first, second, mine, theirs, options)
                if difference:
                    result["different"][name] = difference
    show(options, result, _diff_lines(result, len(common)))
    keys = ("only_in_first", "only_in_second", "different")
    return PROBLEMS if any(result[key] for key in keys) else FINE


def _difference(
    name: str,
    first: Reader,
    second: Reader,
    mine: dict[str, Any],
    theirs: dict[str, Any],
    options: argparse.Namespace,
) -> str:
    if mine[name] != theirs[name]:
        a, b = mine[name], theirs[name]
        return f"{a['dtype']}{a['shape']} and {b['dtype']}{b['shape']}"
    if options.names_only:
        return ""
    import numpy as np

    key = name.encode()
    stored = _stored(first, key)
    if stored is not None:
        return "" if stored == _stored(second, key) else "other bytes"
    a, b = first.read(key), second.read(key)
    if a.dtype == object or a.dtype.kind in "b":
        count = int(np.sum(a != b))
        return f"{count} of {a.size} values" if count else ""
    far = _distances(a, b)
    count = int(np.sum(far > options.tolerance))
    if not count:
        return ""
    return f"{count} of {a.size} values, by up to {np.max(far):.6g}"


def _distances(a: Any, b: Any) -> Any:
    """How far the numbers of two arrays are apart; two NaNs not at all."""
    import numpy as np

    if a.dtype.kind in "iu":
        # Exact: large numbers that differ by one are the same as float64.
        with np.errstate(over="ignore"):
            return np.maximum(a, b).astype(np.uint64) - np.minimum(a, b).astype(
                np.uint64
            )
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        far = np.abs(a.astype(wide) - b.astype(wide))
        same = (a == b) | ((a != a) & (b != b))
    far = np.where(same, 0.0, far)
    return np.where(np.isnan(far), np.inf, far)


def _diff_lines(result: dict[str, Any], common: int) -> Iterator[str]:
    for name in result["only_in_first"]:
        yield f"- {name}"
    for name in result["only_in_second"]:
        yield f"+ {name}"
    for name, text in result["different"].items():
        yield f"! {name}: {text}"
    different = len(result["different"])
    yield f"{common} tensors in both, {different} of them different"


# --- verify --------------------------------------------------------------------------


def _add_verify(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", help=_PATH_HELP)


def _verify(options: argparse.Namespace) -> int:
    from tensorloom.framework import errors

    results = []
    for path in options.paths:
        problems: dict[str, str] = {}
        count = 0
        try:
            prefix, reader = _open(path)
            with reader, progress("verify", len(reader.names)) as step:
                for name in reader.names:
                    step(_text(name), 1)
                    count += 1
                    try:
                        if _stored(reader, name) is None:
                            reader.read(name)
                    except errors.OpError as error:
                        problems[_text(name)] = error.message
        except errors.NotFoundError:
            raise
        except errors.OpError as error:
            prefix, problems = path, {"": error.message}
        results.append({"path": prefix, "tensors": count, "problems": problems})
    show(options, results, _verify_lines(results))
    return PROBLEMS if any(result["problems"] for result in results) else FINE


def _verify_lines(results: list[dict[str, Any]]) -> Iterator[str]:
    for result in results:
        problems = result["problems"]
        for name, text in problems.items():
            yield f"{result['path']}: {name}: {text}" if name else text
        if not problems:
            yield f"{result['path']}: fine, {result['tensors']} tensors"


# --- rename, average -----------------------------------------------------------------


def _add_rename(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help=_PATH_HELP)
    parser.add_argument("output", metavar="OUTPUT", help="prefix of the new checkpoint")
    parser.add_argument(
        "names", nargs="+", metavar="OLD=NEW", help="names, or patterns with --regex"
    )
    parser.add_argument(
        "--regex",
        action="store_true",
        help="OLD is a regular expression, replaced wherever it matches",
    )


def _rename(options: argparse.Namespace) -> int:
    pairs = [text.partition("=")[::2] for text in options.names]
    _, reader = _open(options.path)
    renamed: dict[str, str] = {}
    with reader:
        for name in map(_text, reader.names):
            new = _new_name(name, pairs, options.regex)
            if new in renamed.values():
                raise ValueError(f"two tensors would be named {new!r}")
            renamed[name] = new
        unused = [old for old, _ in pairs if not options.regex and old not in renamed]
        if unused:
            raise ValueError(f"no tensor is named {', '.join(map(repr, unused))}")
        _write(options.output, reader, renamed)
    changed = {old: new for old, new in renamed.items() if old != new}
    show(
        options,
        {"path": options.output, "renamed": changed},
        iter(
            [f"{old} -> {new}" for old, new in changed.items()]
            + [f"{len(changed)} of {len(renamed)} tensors renamed"]
        ),
    )
    return FINE


def _new_name(name: str, pairs: list[tuple[str, str]], regex: bool) -> str:
    for old, new in pairs:
        if regex:
            name = re.sub(old, new, name)
        elif name == old:
            return new
    return name


def _write(output: str, reader: Reader, names: dict[str, str]) -> None:
    from tensorloom.storage.checkpoints.bundle_writer import BundleWriter

    order = sorted(names, key=lambda name: names[name].encode())
    with BundleWriter(output) as writer, progress("write", len(order)) as step:
        for name in order:
            step(name, 1)
            _copy(reader, name.encode(), writer, names[name].encode())
        writer.finish()


def _copy(reader: Reader, key: bytes, writer: BundleWriter, new: bytes) -> None:
    stored = _stored(reader, key)
    if stored is None:
        writer.add(new, reader.dtype(key), reader.read(key))
    else:
        writer.add_stored(new, *stored)


def _add_average(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("output", metavar="OUTPUT", help="prefix of the new checkpoint")
    parser.add_argument("paths", nargs="+", metavar="PATH", help=_PATH_HELP)


def _average(options: argparse.Namespace) -> int:
    """Floating-point tensors are averaged in float64; others are the last one's."""
    from tensorloom.storage.checkpoints.bundle_writer import BundleWriter

    readers = [_open(path)[1] for path in options.paths]
    try:
        facts = [_facts(reader) for reader in readers]
        for path, fact in zip(options.paths, facts, strict=True):
            if fact != facts[0]:
                raise ValueError(
                    f"{path} and {options.paths[0]} do not have the same tensors: see "
                    "`tensorloom checkpoint diff`"
                )
        with (
            BundleWriter(options.output) as writer,
            progress("average", len(facts[0])) as step,
        ):
            for name in sorted(facts[0], key=str.encode):
                step(name, 1)
                _average_one(readers, name.encode(), writer)
            writer.finish()
    finally:
        for reader in readers:
            reader.close()
    data = {"path": options.output, "averaged": len(readers)}
    show(options, data, iter([f"{options.output}: the average of {len(readers)}"]))
    return FINE


def _average_one(readers: list[Reader], key: bytes, writer: BundleWriter) -> None:
    if _stored(readers[-1], key) is None:
        dtype = readers[-1].dtype(key)
        if dtype.is_floating or dtype.is_complex:
            writer.add(key, dtype, _mean(readers, key))
            return
    _copy(readers[-1], key, writer, key)


def _mean(readers: list[Reader], key: bytes) -> Any:
    import numpy as np

    last = readers[-1].read(key)
    wide = np.complex128 if np.iscomplexobj(last) else np.float64
    total = np.zeros(last.shape, wide)
    for reader in readers:
        total += reader.read(key).astype(wide)
    return (total / len(readers)).astype(last.dtype)


COMMAND = group(
    "checkpoint",
    "look into checkpoints, compare and rewrite them",
    (
        Action("show", "list the tensors, or show values", _add_show, _show),
        Action("diff", "compare two checkpoints", _add_diff, _diff),
        Action("verify", "compare every checksum", _add_verify, _verify),
        Action("rename", "write a checkpoint with other names", _add_rename, _rename),
        Action("average", "write the average of several", _add_average, _average),
    ),
)
