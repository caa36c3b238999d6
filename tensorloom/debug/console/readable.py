"""What several commands of tfdbg say: sizes, times, tensors, runs and errors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from tensorloom.debug.console.array_text import HighlightOptions
from tensorloom.debug.console.array_text import format_tensor as format_array
from tensorloom.debug.console.rich_text import (
    MAIN_MENU_KEY,
    Menu,
    MenuItem,
    RichLine,
    RichTextLines,
    rich_text_lines_from_rich_line_list,
)
from tensorloom.debug.console.tensor_text import parse_ranges, sliced
from tensorloom.debug.run_keys import get_flattened_names, get_graph_element_name
from tensorloom.storage.files.file_io import FileIO

DEFAULT_NDARRAY_DISPLAY_THRESHOLD: Final = 2000
COLOR_BLACK: Final = "black"
COLOR_BLUE: Final = "blue"
COLOR_CYAN: Final = "cyan"
COLOR_GRAY: Final = "gray"
COLOR_GREEN: Final = "green"
COLOR_MAGENTA: Final = "magenta"
COLOR_RED: Final = "red"
COLOR_WHITE: Final = "white"
COLOR_YELLOW: Final = "yellow"
TIME_UNIT_US: Final = "us"
TIME_UNIT_MS: Final = "ms"
TIME_UNIT_S: Final = "s"
TIME_UNITS: Final = [TIME_UNIT_US, TIME_UNIT_MS, TIME_UNIT_S]
_BAR: Final = "=" * 38
_LINE: Final = "-" * 38


def bytes_to_readable_str(num_bytes: int | None, include_b: bool = False) -> str:
    """A number of bytes as `12`, `1.50k`, `2.00M` or `3.00G`; `kB` with `include_b`."""
    if num_bytes is None:
        return "None"
    end = "B" if include_b else ""
    if num_bytes < 1 << 10:
        return f"{int(num_bytes)}{end}"
    power = 1 if num_bytes < 1 << 20 else 2 if num_bytes < 1 << 30 else 3
    return f"{num_bytes / 1024.0**power:.2f}{'kMG'[power - 1]}{end}"


def time_to_readable_str(value_us: float, force_time_unit: str | None = None) -> str:
    """Microseconds as `12us`, `1.5ms` or `3s`; in the one unit that is asked for.

    Raises:
      ValueError: there is no such unit.
    """
    if not value_us:
        return "0"
    if not force_time_unit:
        power = min(len(TIME_UNITS) - 1, int(math.log(value_us, 10) / 3))
        return f"{value_us / 1000.0**power:.3g}{TIME_UNITS[power]}"
    if force_time_unit not in TIME_UNITS:
        raise ValueError(f"Invalid time unit: {force_time_unit}")
    power = TIME_UNITS.index(force_time_unit)
    return f"{value_us / 1000.0**power:.10g}{force_time_unit}"


def parse_ranges_highlight(ranges_string: str | None) -> HighlightOptions | None:
    """Marks elements in ranges such as `[0, 1]`, `[[-inf, -1], [1, inf]]`.

    Raises:
      CommandError: it is no list of ranges.
    """
    if not ranges_string:
        return None
    bounds = parse_ranges(ranges_string)

    def is_inside(array: Any) -> Any:
        found = np.zeros(array.shape, bool)
        for low, high in bounds:
            found |= (array >= low) & (array <= high)
        return found

    return HighlightOptions(is_inside, description=ranges_string)


def numpy_printoptions_from_screen_info(
    screen_info: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """NumPy's options for a screen of `cols` columns."""
    if screen_info and "cols" in screen_info:
        return {"linewidth": screen_info["cols"]}
    return {}


def format_tensor(
    tensor: Any,
    tensor_name: str,
    np_printoptions: Mapping[str, Any],
    print_all: bool = False,
    tensor_slicing: str | None = None,
    highlight_options: HighlightOptions | None = None,
    include_numeric_summary: bool = False,
    write_path: str | None = None,
) -> RichTextLines:
    """A tensor or a part of it as text, with dtype and shape.

    Args:
      tensor: an array.
      tensor_name: what it is called.
      np_printoptions: of `np.printoptions`.
      print_all: whether it is whole, however large it is.
      tensor_slicing: the part, `[:, 1]`.
      highlight_options: which elements have an attribute.
      include_numeric_summary: whether counts and moments are told.
      write_path: a file that `numpy.save` writes the part to.

    Raises:
      CommandError: there is no such part.
    """
    value = sliced(tensor, tensor_slicing or "")
    saved = None
    if write_path:
        with FileIO(write_path, "wb") as file:
            np.save(file, value)
        with FileIO(write_path, "rb") as file:
            size = bytes_to_readable_str(file.size())
        told = RichLine("Saved value to: ") + RichLine(write_path, "bold")
        saved = rich_text_lines_from_rich_line_list([told + f" ({size}B)", ""])
    most = np.size(value) if print_all else DEFAULT_NDARRAY_DISPLAY_THRESHOLD
    return format_array(
        value,
        tensor_name + (tensor_slicing or ""),
        include_metadata=True,
        include_numeric_summary=include_numeric_summary,
        auxiliary_message=saved,
        np_printoptions={**np_printoptions, "threshold": most},
        highlight_options=highlight_options,
    )


def error(msg: str) -> RichTextLines:
    """An error message, in red."""
    line = RichLine(f"ERROR: {msg}", COLOR_RED)
    return rich_text_lines_from_rich_line_list([line])


def get_tfdbg_logo() -> RichTextLines:
    """The name of the debugger in large letters."""
    rows = (
        "#### #### ###  ###   ### ",
        " ##  #    #  # #  # #    ",
        " ##  ###  #  # ###  # ## ",
    )
    return RichTextLines(
        ["", *rows, " ##  #    #  # #  # #  # ", " ##  #    ###  ###   ### ", ""]
    )


def _recommended(command: str, what: str, is_link: bool = True) -> list[RichLine | str]:
    attribute = [MenuItem("", command), "bold"] if is_link else "bold"
    return [RichLine("  ") + RichLine(command, attribute) + ":", f"    {what}"]


def get_run_start_intro(
    run_call_count: int,
    fetches: Any,
    feed_dict: Any,
    tensor_filters: Sequence[str] | Mapping[str, Any],
    is_callable_runner: bool = False,
) -> RichTextLines:
    """What is said before a run: what it fetches and is fed, and how to go on.

    Args:
      run_call_count: which run it is.
      fetches, feed_dict: of it.
      tensor_filters: the names of filters.
      is_callable_runner: whether it is one of `make_callable`.
    """
    out: list[RichLine | str] = [_BAR]
    if is_callable_runner:
        out.append("Running a runner returned by Session.make_callable()")
    else:
        out += [f"Session.run() call #{run_call_count}:", "", "Fetch(es):"]
        out += [f"  {name}" for name in get_flattened_names(fetches)]
        out += ["", "Feed dict:"]
        for key in feed_dict or ():
            name = get_graph_element_name(key)
            link = MenuItem(None, f"pf '{name}'")
            out.append(RichLine("  ") + RichLine(name, link))
        if not feed_dict:
            out.append("  (Empty)")
    out += [_BAR, "", "Select one of the following commands to proceed ---->"]
    out += _recommended("run", "Execute the run() call with debug tensor-watching")
    out += _recommended(
        "run -n", "Execute the run() call without debug tensor-watching"
    )
    out += _recommended(
        "run -t <T>",
        "Execute run() calls (T - 1) times without debugging, then execute run() once "
        "more with debugging and drop back to the CLI",
        is_link=False,
    )
    out += _recommended(
        "run -f <filter_name>",
        "Keep executing run() calls until a dumped tensor passes a given, registered "
        "filter (conditional breakpoint mode)",
        is_link=False,
    )
    out.append("    Registered filter(s):")
    for name in tensor_filters or ():
        link = MenuItem("", f"run -f {name}")
        out.append(RichLine("        * ") + RichLine(name, link))
    if not tensor_filters:
        out.append("        (None)")
    help_link = RichLine("help.", MenuItem("", "help"))
    out += ["", RichLine("For more details, see ") + help_link + ".", ""]
    menu = Menu()
    menu.append(MenuItem("run", "run"))
    menu.append(MenuItem("exit", "exit"))
    return rich_text_lines_from_rich_line_list(out, {MAIN_MENU_KEY: menu})


def get_run_short_description(
    run_call_count: int, fetches: Any, feed_dict: Any, is_callable_runner: bool = False
) -> str:
    """`run #3: 1 fetch (z:0); 2 feeds`."""
    if is_callable_runner:
        return "runner from make_callable()"
    names = get_flattened_names(fetches)
    told = f"{len(names)} fetch{'es' if len(names) > 1 else ''}"
    if hasattr(fetches, "name"):
        told += f" ({names[0]})"
    feeds = [get_graph_element_name(key) for key in feed_dict or ()]
    fed = f"1 feed ({feeds[0]})" if len(feeds) == 1 else f"{len(feeds)} feeds"
    return f"run #{run_call_count}: {told}; {fed}"


def get_error_intro(tf_error: Any) -> RichTextLines:
    """What is said of a run that failed, and how to look into it.

    Args:
      tf_error: an `errors.OpError`.
    """
    name = getattr(getattr(tf_error, "op", None), "name", None)
    out: list[RichLine | str] = [
        _LINE,
        RichLine("!!! An error occurred during the run !!!", "blink"),
        "",
    ]
    if name is None:
        out.append(
            "WARNING: Cannot determine the name of the op that caused the error."
        )
    else:
        out.append("You may use the following commands to debug:")
        out += _recommended(
            f"ni -a -d -t {name}", "Inspect information about the failing op."
        )
        out += _recommended(
            f"li -r {name}", "List inputs to the failing op, recursively."
        )
        out += _recommended(
            "lt", "List all tensors dumped during the failing run() call."
        )
    out += ["", f"Op name:    {name}", f"Error type: {type(tf_error)}", "", "Details:"]
    out += [str(tf_error), "", _LINE, ""]
    return rich_text_lines_from_rich_line_list(out)
