"""What `tensorloom saved-model run` feeds: files, expressions and examples."""

from __future__ import annotations

import argparse
import re
from typing import Any

_FILE = re.compile(r"([^=]+)=([^\[\]]+)(?:\[([^\[\]]+)\])?$")


def read_inputs(options: argparse.Namespace) -> dict[str, Any]:
    """The value of each input, by its key in the signature.

    An expression goes before a file, and an example before both.

    Raises:
      ValueError: an option is malformed, or a file does not have what it should.
      OSError: a file cannot be read.
    """
    inputs = _from_files(options.inputs, options.allow_pickle)
    inputs.update(from_expressions(options.input_exprs))
    inputs.update(serialized_examples(from_expressions(options.input_examples)))
    return inputs


def serialized_examples(inputs: dict[str, Any]) -> dict[str, list[bytes]]:
    """The lists of dictionaries as lists of serialized `tf.train.Example`s.

    Raises:
      ValueError: something else is given.
    """
    found = {}
    for key, examples in inputs.items():
        if not isinstance(examples, list):
            raise ValueError(
                f"--input_examples: {key!r} must be a list of dictionaries"
            )
        found[key] = [_serialized(example) for example in examples]
    return found


def _from_files(text: str, allow_pickle: bool) -> dict[str, Any]:
    return {
        key: from_file(filename, variable, allow_pickle)
        for key, (filename, variable) in file_names(text).items()
    }


def file_names(text: str) -> dict[str, tuple[str, str | None]]:
    """The file of each input, and the variable in it if one is named.

    Raises:
      ValueError: the text is malformed.
    """
    inputs = {}
    for item in filter(None, text.split(";")):
        match = _FILE.match(item)
        if match is None:
            raise ValueError(
                f'--inputs "{item}" format is incorrect. Please follow '
                '"<input_key>=<filename>", or "<input_key>=<filename>[<variable_name>]"'
            )
        key, filename, variable = match.groups()
        inputs[key] = filename, variable
    return inputs


def from_file(filename: str, variable: str | None, allow_pickle: bool) -> Any:
    """The array of a file, or one of several by its name.

    Raises:
      ValueError: the file has no such variable, or no arrays.
      OSError: it cannot be read.
    """
    import io

    import numpy as np

    from tensorloom.storage.files import filesystem

    contents = io.BytesIO(filesystem.read_file(filename))
    try:
        data = np.load(contents, allow_pickle=allow_pickle)
    except ValueError as error:
        hint = "" if allow_pickle else " (--allow_pickle reads pickles: of files that "
        hint += "" if allow_pickle else "you trust)"
        raise ValueError(f"{filename}: {error}{hint}") from None
    if isinstance(data, np.ndarray) and not (variable and data.dtype == object):
        return data
    if isinstance(data, np.lib.npyio.NpzFile):
        names = list(data.files)
        if variable is None and len(names) == 1:
            variable = names[0]
        if variable is None:
            raise ValueError(
                f"Input file {filename} contains more than one ndarray. Please specify "
                f"the name of ndarray to use: {names}"
            )
    if variable is None:
        return data
    if variable not in data:
        raise ValueError(
            f'Input file {filename} does not contain variable with name "{variable}".'
        )
    return data[variable]


def from_expressions(text: str) -> dict[str, Any]:
    """The values of Python expressions, by input.

    Raises:
      ValueError: the text is malformed, or an expression fails.
    """
    import numpy as np

    inputs = {}
    for item in filter(None, text.split(";")):
        key, equals, expression = item.partition("=")
        if not equals:
            raise ValueError(
                f'"{item}" format is incorrect. Please follow '
                '"<input_key>=<python expression>"'
            )
        try:
            inputs[key] = eval(expression, {"np": np, "numpy": np})
        except Exception as error:
            raise ValueError(f"{expression!r}: {error}") from None
    return inputs


def _serialized(example: Any) -> bytes:
    from tensorloom.protos import example_pb2

    message = example_pb2.Example()
    for name, values in example.items():
        if not isinstance(values, list) or not values:
            raise ValueError(
                f"feature value must be a list that is not empty; got {values!r} for "
                f"{name!r}"
            )
        feature = message.features.feature[name]
        first = values[0]
        if isinstance(first, float):
            feature.float_list.value.extend(values)
        elif isinstance(first, str | bytes):
            feature.bytes_list.value.extend(
                v.encode() if isinstance(v, str) else v for v in values
            )
        elif isinstance(first, int):
            feature.int64_list.value.extend(values)
        else:
            raise ValueError(
                f"Type {type(first)} for value {first} is not supported for "
                "tf.train.Feature."
            )
    return message.SerializeToString()
