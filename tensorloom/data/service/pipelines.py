"""Pipelines of registered datasets, each in a session of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tensorloom.client.importing.importer import import_graph_def
from tensorloom.client.session.session import Session
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.graph import graph_def
from tensorloom.framework.graph.dataflow_graph import Graph
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array.placeholder import placeholder

if TYPE_CHECKING:
    from collections.abc import Callable

Values = list[Any]


class Share(NamedTuple):
    """What one of a fixed list of workers makes of a dataset."""

    policy: str  # of `input_service.STATIC`; "": all of it
    workers: int
    place: int


ALL: Final = Share("", 1, 0)


class Pipeline:
    """Makes the elements of one part of a dataset after the other.

    Args:
      serialized: a GraphDef whose only _Retval is the dataset.
      types: of an element's tensors, as TensorFlow numbers them.
      shapes: their sizes, None where one is not known.

    Raises:
      errors.InvalidArgumentError: it is no such graph.
    """

    def __init__(self, serialized: bytes, types: Any, shapes: Any) -> None:
        graph = graph_def.parse(serialized)
        ends = [node for node in graph.node if node.op == "_Retval"]
        if len(ends) != 1:
            raise invalid_argument(
                f"The graph of a dataset has one _Retval, but this has {len(ends)}"
            )
        name = ends[0].input[0]
        graph.node.remove(ends[0])
        structure: dict[str, Any] = {
            "output_types": [dtypes.as_dtype(number) for number in types],
            "output_shapes": [TensorShape(sizes) for sizes in shapes],
        }
        own = Graph()
        with own.as_default():
            name = name if ":" in name else f"{name}:0"
            made: Any = import_graph_def(graph, return_elements=[name], name="dataset")
            bounds = [placeholder(dtypes.int64, [], name=n) for n in ("a", "b", "c")]
            policy = placeholder(dtypes.string, [], name="policy")
            place = [placeholder(dtypes.int64, [], name=n) for n in ("count", "index")]
            share = apply_op(
                "InputShareDataset",
                input_dataset=made[0],
                policy=policy,
                num_workers=place[0],
                index=place[1],
                **structure,
            )
            split = apply_op(
                "InputSplitDataset",
                input_dataset=share,
                begin=bounds[0],
                end=bounds[1],
                seed=bounds[2],
                **structure,
            )
            iterator = apply_op("IteratorV2", container="", shared_name="", **structure)
            begin = apply_op("MakeIterator", dataset=split, iterator=iterator)
            element = apply_op("IteratorGetNext", iterator=iterator, **structure)
        self._session = Session(graph=own)
        fed = [*bounds, policy, *place]
        self._begin = self._session.make_callable(begin, feed_list=fed)
        self._next: Callable[[], Values] = self._session.make_callable(list(element))

    def begin(self, begin: int, end: int, seed: int, share: Share = ALL) -> None:
        """Goes to the first element of a part.

        Args:
          begin, end, seed: of a split; -1, -1 is all of the share.
          share: of the dataset.

        Raises:
          errors.OpError: a node of the pipeline failed.
        """
        self._begin(begin, end, seed, share.policy.encode(), *share[1:])

    def next(self) -> Values:
        """The next element's tensors.

        Raises:
          errors.OutOfRangeError: there are no more.
          errors.OpError: it failed; the next call goes on behind it.
        """
        return self._next()

    def close(self) -> None:
        """Ends what runs."""
        self._session.close()
