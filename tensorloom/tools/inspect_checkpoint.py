"""Prints the tensors of a checkpoint."""

from __future__ import annotations

import argparse
import re
from typing import Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.train.checkpoints.checkpoint_reader import CheckpointReader

_FILE_ENDINGS = (".index", ".meta", ".data")


def _count_total_params(reader: CheckpointReader, count_exclude_pattern: str) -> int:
    sizes = {
        name: int(np.prod(shape))
        for name, shape in reader.get_variable_to_shape_map().items()
    }
    if count_exclude_pattern:
        pattern = re.compile(count_exclude_pattern)
        left_out = [name for name in sizes if pattern.search(name)]
        print(
            f"# Excluding {len(left_out)} tensors "
            f"({sum(sizes[name] for name in left_out)} params) that match "
            f"{count_exclude_pattern} when counting."
        )
        for name in left_out:
            del sizes[name]
    return sum(sizes.values())


def print_tensors_in_checkpoint_file(
    file_name: str,
    tensor_name: str,
    all_tensors: bool,
    all_tensor_names: bool = False,
    count_exclude_pattern: str = "",
) -> None:
    """Prints names and shapes, or values, of the tensors in a checkpoint.

    What keeps it from being read is printed, too.

    Args:
      file_name: prefix of the checkpoint.
      tensor_name: the tensor whose value is printed; none if empty.
      all_tensors: print the values of all.
      all_tensor_names: print the names of all.
      count_exclude_pattern: a pattern of tensors whose elements are not counted.
    """
    try:
        reader = CheckpointReader(file_name)
        if all_tensors or all_tensor_names:
            for name in sorted(reader.get_variable_to_shape_map()):
                print("tensor_name: ", name)
                if all_tensors:
                    print(reader.get_tensor(name))
        elif not tensor_name:
            print(reader.debug_string().decode("utf-8"))
        else:
            print("tensor_name: ", tensor_name)
            print(reader.get_tensor(tensor_name))
        total = _count_total_params(reader, count_exclude_pattern)
        print(f"# Total number of params: {total}")
        wrong = not reader.get_variable_to_shape_map()
    except errors.OpError as error:
        print(error)
        wrong = True
    if wrong and any(ending in file_name for ending in _FILE_ENDINGS):
        print(
            "\nIt's likely that this is a V2 checkpoint and you need to provide "
            "the filename *prefix*.  Try removing the '.' and extension.  Try:\n"
            f"inspect checkpoint --file_name = {file_name.rpartition('.')[0]}"
        )


def parse_numpy_printoption(kv_str: str) -> None:
    """Sets one of NumPy's printing options, such as `threshold=100000`.

    Raises:
      argparse.ArgumentTypeError: it is no such option or value.
    """
    key, equals, text = kv_str.partition("=")
    if not equals or not key:
        raise argparse.ArgumentTypeError(f"'{kv_str}' is not in the form k=v.")
    options: dict[str, Any] = dict(np.get_printoptions())
    if key not in options:
        raise argparse.ArgumentTypeError(f"'{key}' is not a valid printoption.")
    kind = type(options[key])
    if options[key] is None:
        raise argparse.ArgumentTypeError(
            f"Setting '{key}' from the command line is not supported."
        )
    try:
        value = text.lower() in ("true", "t", "1") if kind is bool else kind(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    chosen: dict[str, Any] = {key: value}
    np.set_printoptions(**chosen)
