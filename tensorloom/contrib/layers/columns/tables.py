"""The tables of columns: variables of their own, shared ones, and lookups in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.client.variables.variables import Variable
from tensorloom.contrib.framework.model_variables import model_variable
from tensorloom.contrib.layers.embeddings.hashed import (
    scattered_embedding_lookup_sparse,
)
from tensorloom.contrib.layers.encoders import safe_embedding_lookup_sparse
from tensorloom.contrib.layers.shaping import inner_flatten
from tensorloom.framework.graph.graph import get_default_graph
from tensorloom.framework.types import dtypes
from tensorloom.train.checkpoints.checkpoint_utils import init_from_checkpoint

if TYPE_CHECKING:
    from tensorloom.contrib.layers.columns.interfaces import DeepLookup


def variable_parts(variable: Any) -> list[Any]:
    """The parts of a variable; one where it has none."""
    return [variable] if isinstance(variable, Variable) else list(variable)


def restore(path: tuple[str, str] | None, parts: list[Any]) -> None:
    """Makes variables begin as a checkpoint has them, if a place in one is given."""
    if path is not None:
        init_from_checkpoint(path[0], {path[1]: parts[0] if len(parts) == 1 else parts})


def _shared_table(arguments: DeepLookup, trainable: bool, collections: Any) -> Any:
    """The table that columns share, in a collection of its own."""
    name = str(arguments.shared_embedding_name)
    size = [arguments.vocab_size, arguments.dimension]
    known = get_default_graph().get_collection_ref(
        f"SHARED_EMBEDDING_COLLECTION_{name.upper()}"
    )
    if len(known) > 1:
        raise ValueError(
            f"Collection SHARED_EMBEDDING_COLLECTION_{name.upper()} can only contain "
            "one (partitioned) variable."
        )
    if not known:
        known.append(_table(name, size, arguments, trainable, collections))
    elif known[0].get_shape() != size:
        raise ValueError(
            f"The embedding variable with name {name} already exists, but its shape "
            "does not match required embedding shape here. Please make sure to use "
            "different shared_embedding_name for different shared embeddings."
        )
    return known[0]


def _table(
    name: str, size: list[int], arguments: DeepLookup, trainable: bool, collections: Any
) -> Any:
    return model_variable(
        name=name,
        shape=size,
        dtype=dtypes.float32,
        initializer=arguments.initializer,
        trainable=trainable and arguments.trainable,
        collections=collections,
    )


def embeddings_of(
    column: Any,
    arguments: DeepLookup,
    weight_collections: Any,
    trainable: bool,
    output_rank: int = 2,
) -> Any:
    """The embeddings of a column: `[..., dimension]` of that rank."""
    ids = inner_flatten(arguments.input_tensor, output_rank)
    weights = arguments.weight_tensor
    if weights is not None:
        weights = inner_flatten(weights, output_rank)
    if arguments.hash_key:
        table = _table(
            "weights", [arguments.vocab_size], arguments, trainable, weight_collections
        )
        return scattered_embedding_lookup_sparse(
            table,
            ids,
            arguments.dimension,
            hash_key=arguments.hash_key,
            combiner=arguments.combiner,
            name="lookup",
        )
    if arguments.shared_embedding_name is not None:
        table = _shared_table(arguments, trainable, weight_collections)
    else:
        size = [arguments.vocab_size, arguments.dimension]
        table = _table("weights", size, arguments, trainable, weight_collections)
    parts = variable_parts(table)
    restore(column._checkpoint_path(), parts)
    return safe_embedding_lookup_sparse(
        parts,
        ids,
        sparse_weights=weights,
        combiner=arguments.combiner,
        name=f"{column.name}weights",
        max_norm=arguments.max_norm,
    )
