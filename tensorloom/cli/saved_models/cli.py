"""`tensorflow.python.tools.saved_model_cli`: what programs call of that command.

The actions are those of `tensorloom saved-model`. Here they raise where the command
prints a line.
"""

from __future__ import annotations

import argparse
from typing import Any

from tensorloom.cli.saved_models.directory import meta_graph_of, ops_of
from tensorloom.cli.saved_models.inputs import (
    file_names,
    from_expressions,
    from_file,
    serialized_examples,
)
from tensorloom.cli.saved_models.run import add_run, run_and_write
from tensorloom.cli.saved_models.scan import DENIED, add_scan
from tensorloom.cli.saved_models.show import add_show, show_saved_model, tensor_lines
from tensorloom.saved_model.export_directory import parse_saved_model

#: The ops that `scan` looks for; programs may set others.
_OP_BLACKLIST = set(DENIED)


def create_parser() -> argparse.ArgumentParser:
    """A parser of the command's arguments; `args.func(args)` does what they say."""
    parser = argparse.ArgumentParser(
        description="saved_model_cli: Command-line interface for SavedModel"
    )
    parser.add_argument("-v", "--version", action="version", version="0.1.0")
    actions = parser.add_subparsers(title="commands", description="valid commands")
    for name, add_arguments, function in (
        ("show", add_show, show),
        ("run", add_run, run),
        ("scan", add_scan, scan),
    ):
        action = actions.add_parser(name, description=function.__doc__)
        add_arguments(action)
        action.set_defaults(func=function, json=False)
    return parser


def show(args: argparse.Namespace) -> None:
    """Prints tag-sets, signatures, or all.

    Raises:
      RuntimeError: there is no MetaGraph with these tags.
      ValueError: there is no such signature.
    """
    show_saved_model(args)


def run(args: argparse.Namespace) -> None:
    """Runs a signature; prints and writes its outputs.

    Raises:
      AttributeError: no input is given.
      RuntimeError: an input's format is wrong, or a file exists.
      ValueError: there is no such signature or input.
    """
    if not (args.inputs or args.input_exprs or args.input_examples):
        raise AttributeError(
            "At least one of --inputs, --input_exprs or --input_examples must be "
            "required"
        )
    inputs = load_inputs_from_input_arg_string(
        args.inputs, args.input_exprs, args.input_examples
    )
    run_and_write(args, inputs)


def scan(args: argparse.Namespace) -> None:
    """Prints which MetaGraph has which of the ops that are looked for."""
    if args.tag_set:
        scan_meta_graph_def(meta_graph_of(args.dir, args.tag_set))
    else:
        for meta_graph in parse_saved_model(args.dir).meta_graphs:
            scan_meta_graph_def(meta_graph)


def scan_meta_graph_def(meta_graph_def: Any) -> None:
    """Prints the unwanted ops of a MetaGraphDef, or that there are none."""
    tags = list(meta_graph_def.meta_info_def.tags)
    found = sorted(set(_OP_BLACKLIST) & ops_of(meta_graph_def))
    if found:
        print(
            f"MetaGraph with tag set {tags} contains the following blacklisted ops:",
            found,
        )
    else:
        print(f"MetaGraph with tag set {tags} does not contain blacklisted ops.")


def get_meta_graph_def(saved_model_dir: str, tag_set: str) -> Any:
    """The MetaGraphDef with these tags, which ',' separates.

    Raises:
      RuntimeError: there is none.
    """
    return meta_graph_of(saved_model_dir, tag_set)


def get_signature_def_map(saved_model_dir: str, tag_set: str) -> Any:
    """The signatures of the MetaGraphDef with these tags, by key."""
    return meta_graph_of(saved_model_dir, tag_set).signature_def


def _print_tensor_info(tensor_info: Any, indent: int = 0) -> None:
    for line in tensor_lines(tensor_info, "  " * indent):
        print(line)


# --- inputs ----------------------------------------------------------------------


def preprocess_inputs_arg_string(inputs_str: str) -> dict[str, tuple[str, str | None]]:
    """The file, and the variable in it if one is named, by input.

    Raises:
      RuntimeError: the format is wrong.
    """
    try:
        return file_names(inputs_str)
    except ValueError as error:
        raise RuntimeError(str(error)) from None


def preprocess_input_exprs_arg_string(input_exprs_str: str) -> dict[str, Any]:
    """The values of Python expressions, by input.

    Raises:
      RuntimeError: the format is wrong.
    """
    for item in filter(None, input_exprs_str.split(";")):
        if "=" not in item:
            raise RuntimeError(
                f'--input_exprs "{item}" format is incorrect. Please follow '
                '"<input_key>=<python expression>"'
            )
    return from_expressions(input_exprs_str)


def preprocess_input_examples_arg_string(input_examples_str: str) -> dict[str, Any]:
    """Serialized `tf.train.Example`s, by input.

    Raises:
      ValueError: what is given is no list of dictionaries of lists.
    """
    return serialized_examples(preprocess_input_exprs_arg_string(input_examples_str))


def load_inputs_from_input_arg_string(
    inputs_str: str, input_exprs_str: str, input_examples_str: str
) -> dict[str, Any]:
    """The value of each input; an expression goes before a file.

    Files may hold Python objects, which can run code, as for TensorFlow's command.

    Raises:
      RuntimeError: a format is wrong, or a file has no such variable.
    """
    values: dict[str, Any] = {}
    for key, (filename, variable) in preprocess_inputs_arg_string(inputs_str).items():
        try:
            values[key] = from_file(filename, variable, allow_pickle=True)
        except ValueError as error:
            raise RuntimeError(str(error)) from None
    values.update(preprocess_input_exprs_arg_string(input_exprs_str))
    values.update(preprocess_input_examples_arg_string(input_examples_str))
    return values


def main() -> None:
    """Does what the process's arguments say."""
    parser = create_parser()
    args = parser.parse_args()
    if not hasattr(args, "func"):
        parser.error("too few arguments")
    args.func(args)


if __name__ == "__main__":
    main()
