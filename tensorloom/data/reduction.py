"""`Dataset.reduce`, and single elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.data import nest, specs
from tensorloom.data.dataset_classes import is_dataset
from tensorloom.data.structured_function import StructuredFunction
from tensorloom.data.variants import normalize_element
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor

if TYPE_CHECKING:
    from tensorloom.data.dataset import Dataset


def relaxed_function(
    function: Callable[..., Any],
    name: str,
    state: Any,
    make_arguments: Callable[[Any], Any],
    state_of: Callable[[Any], Any] = lambda structure: structure,
) -> tuple[StructuredFunction, Any]:
    """A function whose state has shapes that hold in each step.

    Where its result has another shape than its argument, the argument's is widened and
    the function traced again.

    Args:
      state: the specs of the first state.
      make_arguments: from the specs of the state to those of all arguments.
      state_of: from the specs of the result to those of the next state.

    Returns:
      The function, and the specs of the state.

    Raises:
      TypeError: the state's classes or types change.
    """
    while True:
        made = StructuredFunction(function, name, make_arguments(state))
        result = state_of(made.output_structure)
        for what in ("classes", "types"):
            mine = nest.map_structure(
                lambda s, w=what: getattr(s, f"legacy_{w}"), state
            )
            theirs = nest.map_structure(
                lambda s, w=what: getattr(s, f"legacy_{w}"), result
            )
            try:
                same = mine == theirs or nest.flatten(mine) == nest.flatten(theirs)
                nest.assert_same_structure(mine, theirs)
            except (TypeError, ValueError):
                same = False
            if not same:
                raise TypeError(
                    f"The element {what} for the new state must match the initial "
                    f"state. Expected {mine}; got {theirs}."
                )
        widened = nest.map_structure(
            lambda a, b: a.most_specific_compatible_type(b), state, result
        )
        if nest.flatten(widened) == nest.flatten(state):
            return made, state
        state = widened


def reduce_dataset(
    dataset: Dataset, initial_state: Any, reduce_func: Callable[..., Any]
) -> Any:
    """The last state of a function over all elements."""
    with name_scope("initial_state"):
        initial_state = normalize_element(initial_state)
    first = specs.structure_of_value(initial_state)
    function, state = relaxed_function(
        reduce_func,
        "reduce()",
        first,
        lambda structure: (structure, dataset.element_spec),
    )
    flat = apply_op(
        "ReduceDataset",
        input_dataset=dataset._variant_tensor,
        initial_state=specs.to_tensors(first, initial_state),
        other_arguments=function.captured,
        f=function.attr,
        output_shapes=specs.flat_shapes(state),
        output_types=specs.flat_types(state),
    )
    return specs.from_tensors(state, flat)


@export("data.experimental.get_single_element")
def get_single_element(dataset: Any) -> Any:
    """The only element of a dataset.

    Raises:
      TypeError: the argument is no dataset.
    """
    if not is_dataset(dataset):
        raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
    flat = apply_op(
        "DatasetToSingleElement",
        dataset=dataset._variant_tensor,
        **dataset._flat_structure,
    )
    return specs.from_tensors(dataset.element_spec, flat)


@export("data.experimental.TFRecordWriter")
class TFRecordWriter:
    """Writes the strings of a dataset to a TFRecord file.

    Args:
      filename: a string tensor.
      compression_type: "", "ZLIB" or "GZIP".
    """

    def __init__(self, filename: Any, compression_type: Any = None) -> None:
        self._filename = convert_to_tensor(filename, dtypes.string, name="filename")
        self._compression_type = convert_to_tensor(
            compression_type or "", dtypes.string, name="compression_type"
        )

    def write(self, dataset: Any) -> Any:
        """The operation that writes a dataset of string scalars.

        Raises:
          TypeError: it is no dataset, or its elements are no string scalars.
        """

        if not is_dataset(dataset):
            raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
        spec = dataset.element_spec
        if not (
            isinstance(spec, specs.TensorSpec)
            and spec.is_compatible_with(specs.TensorSpec([], dtypes.string))
        ):
            raise TypeError(
                "`dataset` must produce scalar `DT_STRING` tensors whereas it produces "
                f"shape {dataset.output_shapes} and types {dataset.output_types}"
            )
        return apply_op(
            "DatasetToTFRecord",
            input_dataset=dataset._variant_tensor,
            filename=self._filename,
            compression_type=self._compression_type,
        )


@export("data.experimental.cardinality")
def cardinality(dataset: Any) -> Any:
    """The number of elements; -1 for endless, -2 for not known."""
    return apply_op("DatasetCardinality", input_dataset=dataset._variant_tensor)
