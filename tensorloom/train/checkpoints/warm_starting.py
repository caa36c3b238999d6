"""`tf.train.warm_start`: variables that start with values of another model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from tensorloom.client.program import program_log
from tensorloom.client.variables.keyed_variable import KeyedVariable
from tensorloom.client.variables.partitioned_variable import PartitionedVariable
from tensorloom.client.variables.variable_partitions import PartitionInfo
from tensorloom.client.variables.variables import Variable
from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import GraphKeys, get_collection
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.state import reference_variable as state_ops
from tensorloom.train.checkpoints import (
    checkpoint_utils,
    saver_object_graph,
    saver_saveables,
)
from tensorloom.train.checkpoints.matrix_remapping import (
    load_and_remap_matrix_initializer,
)


class _VocabInfo(NamedTuple):
    new_vocab: Any
    new_vocab_size: int
    num_oov_buckets: int
    old_vocab: Any
    old_vocab_size: int
    backup_initializer: Any
    axis: int


@export("train.VocabInfo", "estimator.VocabInfo")
class VocabInfo(_VocabInfo):
    """How the words of a variable changed between two models.

    Args:
      new_vocab: path of the file of words now, one a line.
      new_vocab_size: how many of them there are.
      num_oov_buckets: how many rows (or columns) there are for unknown words.
      old_vocab: path of the file of words in the checkpoint.
      old_vocab_size: how many of them count; -1 for all.
      backup_initializer: of new words; zeros when None.
      axis: 0 if rows belong to words, 1 if columns do.

    Raises:
      ValueError: `axis` is another one.
    """

    __slots__ = ()

    def __new__(
        cls,
        new_vocab: Any,
        new_vocab_size: int,
        num_oov_buckets: int,
        old_vocab: Any,
        old_vocab_size: int = -1,
        backup_initializer: Any = None,
        axis: int = 0,
    ) -> VocabInfo:
        if axis not in (0, 1):
            raise ValueError(
                "The only supported values for the axis argument are 0 and 1.  "
                f"Provided axis: {axis}"
            )
        return super().__new__(
            cls,
            new_vocab,
            new_vocab_size,
            num_oov_buckets,
            old_vocab,
            old_vocab_size,
            backup_initializer,
            axis,
        )


@export("train.warm_start")
def warm_start(
    ckpt_to_initialize_from: Any,
    vars_to_warm_start: Any = ".*",
    var_name_to_vocab_info: Mapping[str, VocabInfo] | None = None,
    var_name_to_prev_var_name: Mapping[str, str] | None = None,
) -> None:
    """Makes variables start with the values of a checkpoint of another model.

    Their initializers are replaced; call it before they run.

    Args:
      ckpt_to_initialize_from: the checkpoint, or the directory of its newest.
      vars_to_warm_start: a regular expression of trainable variables; a list of such
        for all global variables; a list of variables; None for the trainable ones
        that `var_name_to_vocab_info` names.
      var_name_to_vocab_info: how the words of a variable changed, by its name.
      var_name_to_prev_var_name: a variable's name in the checkpoint, where it differs.

    Raises:
      ValueError: variables are named that are not to be started, or are not in the
        checkpoint.
    """
    program_log.info("Warm-starting from: %s", ckpt_to_initialize_from)
    grouped = _grouped_variables(vars_to_warm_start)
    vocabularies = var_name_to_vocab_info or {}
    previous = var_name_to_prev_var_name or _object_names(
        ckpt_to_initialize_from, grouped
    )
    count = 0
    unchanged: dict[str, Any] = {}
    for name, variables in grouped.items():
        vocabulary = vocabularies.get(name)
        if vocabulary:
            count += 1
            _start_with_words(
                variables, ckpt_to_initialize_from, vocabulary, previous.get(name)
            )
        elif vars_to_warm_start:
            count += 1
            one = variables[0] if len(variables) == 1 else variables
            old_name, variable = _with_name(one, previous.get(name))
            unchanged[old_name] = variable
    checkpoint_utils.init_from_checkpoint(ckpt_to_initialize_from, unchanged)
    program_log.info("Warm-started %d variables.", count)
    used = {name for name in grouped if previous.get(name)}
    _check_used("var_name_to_prev_var_name", previous, used, grouped)
    used = {name for name in grouped if vocabularies.get(name)}
    _check_used("var_name_to_vocab_info", vocabularies, used, grouped)


def _check_used(
    what: str, given: Iterable[str], used: set[str], grouped: Mapping[str, Any]
) -> None:
    unused = set(given) - used
    if unused:
        raise ValueError(
            f"You provided the following variables in {what} that were not used: "
            f"{unused}.  Perhaps you misspelled them?  Here is the list of viable "
            f"variable names: {grouped.keys()}"
        )


def _grouped_variables(chosen: Any) -> dict[str, list[Any]]:
    """The variables to start, by name; the slices of one together."""
    found: list[Any]
    if isinstance(chosen, str) or chosen is None:
        program_log.info("Warm-starting variables only in TRAINABLE_VARIABLES.")
        found = get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=chosen)
    elif not isinstance(chosen, list):
        raise ValueError(
            "`vars_to_warm_start must be a `list` or `str`.  Given type is "
            f"{type(chosen)}"
        )
    elif all(isinstance(one, str) for one in chosen):
        found = [
            variable
            for scope in chosen
            for variable in get_collection(GraphKeys.GLOBAL_VARIABLES, scope=scope)
        ]
    elif all(isinstance(one, Variable) for one in chosen):
        found = chosen
    else:
        raise ValueError(
            "If `vars_to_warm_start` is a list, it must be all `Variable` or all "
            f"`str`.  Given types are {[type(one) for one in chosen]}"
        )
    grouped: dict[str, list[Any]] = {}
    for variable in found:
        name = _name_of(variable if isinstance(variable, list) else [variable])
        grouped.setdefault(name, []).append(variable)
    return grouped


def _name_of(variables: list[Any]) -> str:
    keyed = {v.whole_name for v in variables if isinstance(v, KeyedVariable)}
    if len(keyed) == 1:
        return keyed.pop()
    names = saver_saveables.op_list_to_dict(variables)
    if len(names) > 1:
        raise TypeError(
            f"`var` = {variables} passed as arg violates the constraints.  "
            f"name_to_var_dict = {names}"
        )
    return next(iter(names))


def _parts(variable: Any) -> list[Any]:
    """The slices of a variable, or itself."""
    if isinstance(variable, Variable):
        return [variable]
    if isinstance(variable, list) and all(isinstance(v, Variable) for v in variable):
        return variable
    if isinstance(variable, PartitionedVariable):
        return variable._get_variable_list()
    raise TypeError(
        "var MUST be one of the following: a Variable, list of Variable or "
        f"PartitionedVariable, but is {type(variable)}"
    )


def _with_name(var: Any, prev_tensor_name: str | None = None) -> tuple[str, Any]:
    """The name of a variable in a checkpoint, and the variable or its parts."""
    parts = _parts(var)
    name = _name_of([var] if isinstance(var, PartitionedVariable) else parts)
    return prev_tensor_name or name, var if isinstance(var, Variable) else parts


def _object_names(path: Any, names: Iterable[str]) -> dict[str, str]:
    """The keys of variables in an object-based checkpoint; none if it is another."""
    prefix = checkpoint_utils._checkpoint_prefix(path)
    try:
        keys = saver_object_graph.object_graph_key_mapping(prefix)
    except errors.NotFoundError:
        return {}
    missing = set(names) - keys.keys()
    if missing:
        raise ValueError(
            "Attempting to warm-start from an object-based checkpoint, but found that "
            "the checkpoint did not contain values for all variables. The following "
            f"variables were missing: {missing}"
        )
    return {name: keys[name] for name in names}


def warm_start_var_with_vocab(
    var: Any,
    current_vocab_path: Any,
    current_vocab_size: int,
    prev_ckpt: Any,
    prev_vocab_path: Any,
    previous_vocab_size: int = -1,
    current_oov_buckets: int = 0,
    prev_tensor_name: str | None = None,
    initializer: Any = None,
    axis: int = 0,
) -> None:
    """`warm_start` for one variable; the arguments are those of `VocabInfo`."""
    words = VocabInfo(
        current_vocab_path,
        current_vocab_size,
        current_oov_buckets,
        prev_vocab_path,
        previous_vocab_size,
        initializer,
        axis,
    )
    _start_with_words(var, prev_ckpt, words, prev_tensor_name)


def _start_with_words(
    variable: Any, checkpoint: Any, words: VocabInfo, previous: str | None
) -> None:
    """Gives a variable an initializer that finds its words in the checkpoint."""
    if not (
        words.new_vocab and words.new_vocab_size and checkpoint and words.old_vocab
    ):
        raise ValueError(
            "Invalid args: Must provide all of [current_vocab_path, "
            "current_vocab_size, prev_ckpt, prev_vocab_path}."
        )
    parts = _parts(variable)
    if isinstance(parts[0], KeyedVariable):
        raise ValueError(
            f"{parts[0].whole_name} has rows by keys: no vocabulary numbers them"
        )
    rows = sum(part.get_shape().as_list()[0] for part in parts)
    for part in parts:
        shape = part.get_shape().as_list()
        info = part._get_save_slice_info()
        partition = info and PartitionInfo(info.full_shape, info.var_offset)
        by_rows = words.axis == 0
        initializer = load_and_remap_matrix_initializer(
            ckpt_path=checkpoint_utils._checkpoint_prefix(checkpoint),
            old_tensor_name=previous or _name_of(parts),
            new_row_vocab_size=words.new_vocab_size if by_rows else rows,
            new_col_vocab_size=shape[1] if by_rows else words.new_vocab_size,
            old_row_vocab_size=words.old_vocab_size if by_rows else -1,
            old_row_vocab_file=words.old_vocab if by_rows else None,
            new_row_vocab_file=words.new_vocab if by_rows else None,
            old_col_vocab_file=None if by_rows else words.old_vocab,
            new_col_vocab_file=None if by_rows else words.new_vocab,
            num_row_oov_buckets=words.num_oov_buckets if by_rows else 0,
            num_col_oov_buckets=0 if by_rows else words.num_oov_buckets,
            initializer=words.backup_initializer,
        )
        value = convert_to_tensor(initializer(shape, partition_info=partition))
        part._initializer_op = state_ops.assign(part, value)
