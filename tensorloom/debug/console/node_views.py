"""`node_info`, `list_inputs` and `list_outputs`: nodes and what is around them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from tensorloom.debug.console.commands import CommandError
from tensorloom.debug.console.rich_text import (
    MenuItem,
    RichLine,
    linked,
    rich_text_lines_from_rich_line_list,
)
from tensorloom.debug.dumps.debug_graph import get_node_name

if TYPE_CHECKING:
    from tensorloom.debug.dumps.dump_dir import DebugDumpDir

_MANY = 20  # deeper than this only where it is asked for


def existing_node(dump: DebugDumpDir, element: str) -> str:
    """The node of a node's or tensor's name. Raises CommandError if there is none."""
    node = get_node_name(element)
    if not dump.node_exists(node):
        raise CommandError(f'Node "{node}" does not exist in partition graphs')
    return node


def node_text(
    dump: DebugDumpDir, element: str, attributes: bool, dumps: bool, traceback: bool
) -> str:
    """What is known of a node."""
    node = existing_node(dump, element)
    lines: list[RichLine | str] = [
        linked(f"Node {node}", node, "bold"),
        "",
        f"  Op: {dump.node_op_type(node)}",
        f"  Device: {dump.node_device(node)}",
        "",
        *_neighbours(dump, "input", dump.node_inputs, node),
        "",
        *_neighbours(dump, "recipient", dump.node_recipients, node),
    ]
    if attributes:
        lines += ["", "Node attributes:"]
        for name, attr in dump.node_attributes(node).items():
            lines += [f"  {name}:", *(f"    {t}" for t in str(attr).splitlines()), ""]
    if dumps:
        lines += ["", *_dumps(dump, node)]
    if traceback:
        title = RichLine("Traceback of node construction:", "bold")
        lines += ["", "", title, *_traceback(dump, node)]
    return rich_text_lines_from_rich_line_list(lines).styled()


def _neighbours(
    dump: DebugDumpDir, word: str, ask: Callable[..., list[str]], node: str
) -> list[RichLine | str]:
    plain, control = ask(node), ask(node, is_control=True)
    lines: list[RichLine | str] = [
        f"  {len(plain)} {word}(s) + {len(control)} control {word}(s):"
    ]
    for kind, names in ((word, plain), (f"control {word}", control)):
        if names:
            lines.append(f"    {len(names)} {kind}(s):")
            lines += [
                linked(f"      [{_op(dump, name)}] {name}", name, _link(name))
                for name in names
            ]
    return lines


def _link(element: str) -> MenuItem:
    return MenuItem(None, f"ni -a -d -t {get_node_name(element)}")


def _op(dump: DebugDumpDir, element: str) -> str:
    node = get_node_name(element)
    return dump.node_op_type(node) if dump.node_exists(node) else "?"


def _dumps(dump: DebugDumpDir, node: str) -> list[str]:
    data = [
        datum
        for key in sorted(dump.debug_watch_keys(node))
        for datum in dump.watch_key_to_data(key)
    ]
    start = dump.t0 or 0
    return [
        f"{len(data)} dumped tensor(s):",
        "",
        *(
            f"  Slot {d.output_slot} @ {d.debug_op} @ "
            f"{(d.timestamp - start) / 1000:.3f} ms"
            for d in data
        ),
    ]


def _traceback(dump: DebugDumpDir, node: str) -> list[str]:
    try:
        frames = dump.node_traceback(node)
    except LookupError:
        return [f"Node {node} is not made by a line of the program"]
    lines = []
    for number, frame in enumerate(frames):
        file, line, function, text = tuple(frame)[:4]
        lines += [
            f"{number}: {file}",
            f"  Line:     {line}",
            f"  Function: {function}",
            f"  Text:     {_quoted(text)}",
            "",
        ]
    return lines


def _quoted(text: Any) -> str:
    return "None" if text is None else f'"{text}"'


def tree_text(
    dump: DebugDumpDir,
    element: str,
    *,
    outputs: bool,
    depth: int,
    control: bool,
    op_types: bool,
) -> str:
    """The inputs of a node, or who takes its outputs, as a tree."""
    node = existing_node(dump, element)
    ask = dump.node_recipients if outputs else dump.node_inputs
    word = "Recipients of" if outputs else "Inputs to"
    which = f", control {'recipients' if outputs else 'inputs'} included"
    head = f'{word} node "{node}'
    lines: list[RichLine | str] = [
        linked(head, node, "bold")
        + f'" (Depth limit = {depth}{which if control else ""}):'
    ]

    def next_ones(name: str) -> list[tuple[str, bool]]:
        if not dump.node_exists(name):
            return []
        found = [(get_node_name(n), False) for n in dict.fromkeys(ask(name))]
        if control:
            found += [(n, True) for n in ask(name, is_control=True)]
        return found

    def add(name: str, level: int, indent: str) -> None:
        found = next_ones(name)
        for number, (other, is_control) in enumerate(found):
            last = number == len(found) - 1
            marks = f"({level}) " + ("(Ctrl) " if is_control else "")
            op = f"[{_op(dump, other)}] " if op_types else ""
            seen = other in path
            line = linked(f"{indent}|- {marks}{op}{other}", other, _link(other))
            lines.append(line + (" (loop)" if seen else ""))
            deeper = indent + ("   " if last else "|  ")
            if seen or not next_ones(other):
                continue
            if level >= depth:
                lines.append(f"{deeper}|- ...")
                continue
            path.append(other)
            add(other, level + 1, deeper)
            path.pop()

    path = [node]
    add(node, 1, "")
    if len(lines) == 1:
        lines.append("  [None]")
    lines += ["", "Legend:", *_legend(control, op_types)]
    return rich_text_lines_from_rich_line_list(lines).styled()


def _legend(control: bool, op_types: bool) -> Iterable[str]:
    yield "  (d): recursion depth = d."
    if control:
        yield "  (Ctrl): Control input."
    if op_types:
        yield "  [Op]: Input node has op type Op."


def depth_limit(recursive: bool, depth: int | None) -> int:
    """How deep a tree goes."""
    if not recursive:
        return 1
    return _MANY if depth is None else depth
