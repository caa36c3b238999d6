"""What an `input_fn` returned: features, labels, and what must run before them."""

from __future__ import annotations

from typing import Any

from tensorloom.data.dataset import Dataset
from tensorloom.data.dataset_functions import make_initializable_iterator
from tensorloom.framework.graph.graph import GraphKeys, Tensor, get_collection
from tensorloom.framework.types import nest
from tensorloom.train.hooks.session_run_hook import SessionRunHook


def parse_input_fn_result(result: Any) -> tuple[Any, Any, list[Any]]:
    """Features, labels (or None) and hooks.

    Of a dataset they are what its iterator gives next; a hook initializes the iterator
    in each new session.

    Raises:
      ValueError: it is a tuple, but no pair.
    """
    if not isinstance(result, Dataset):
        return *parse_iterator_result(result), []
    iterator = make_initializable_iterator(result)
    hook = DatasetInitializerHook(iterator)
    return *parse_iterator_result(iterator.get_next()), [hook]


def parse_iterator_result(result: Any) -> tuple[Any, Any]:
    """Features and labels; what is no tuple are features alone.

    Raises:
      ValueError: it is a tuple, but no pair.
    """
    if not isinstance(result, list | tuple):
        return result, None
    if len(result) != 2:
        raise ValueError(
            "input_fn should return (features, labels) as a len 2 tuple. Found "
            f"{len(result)} elements."
        )
    return result[0], result[1]


class DatasetInitializerHook(SessionRunHook):
    """Initializes an iterator when a session is made, and made anew."""

    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator
        self._initializer: Any = None

    def begin(self) -> None:
        """Makes the initializer while the graph can still grow."""
        self._initializer = self._iterator.initializer

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Runs it."""
        session.run(self._initializer)


def comes_to_an_end(features: Any) -> bool:
    """Whether features come from a dataset or a queue, which can run out."""
    tensors = [leaf for leaf in nest.flatten(features) if isinstance(leaf, Tensor)]
    if any(tensor.op.type == "IteratorGetNext" for tensor in tensors):
        return True
    return bool(get_collection(GraphKeys.QUEUE_RUNNERS))
