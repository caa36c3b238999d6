"""`tf.estimator.export.*InputReceiver`: how features come into an exported model."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor

SINGLE_FEATURE_DEFAULT_NAME: Final = "feature"
SINGLE_RECEIVER_DEFAULT_NAME: Final = "input"
SINGLE_LABEL_DEFAULT_NAME: Final = "label"

_DEFAULT_NAMES: Final = {
    "feature": SINGLE_FEATURE_DEFAULT_NAME,
    "label": SINGLE_LABEL_DEFAULT_NAME,
    "receiver_tensor": SINGLE_RECEIVER_DEFAULT_NAME,
    "receiver_tensors_alternative": SINGLE_RECEIVER_DEFAULT_NAME,
}


def wrap_and_check_input_tensors(
    tensors: Any, field_name: str, allow_int_keys: bool = False
) -> dict[Any, Any]:
    """Tensors by their keys; a lone tensor gets the field's usual name.

    Raises:
      ValueError: there are none, or a key or a value is something else.
    """
    if tensors is None:
        raise ValueError(f"{field_name}s must be defined.")
    named: dict[Any, Any] = tensors
    if not isinstance(tensors, dict):
        named = {_DEFAULT_NAMES[field_name]: tensors}
    for name, tensor in named.items():
        _check_key(name, field_name, allow_int_keys)
        _check_tensor(tensor, name, field_name)
    return named


def _check_key(name: Any, field_name: str, allow_int_keys: bool) -> None:
    if isinstance(name, str) or (allow_int_keys and isinstance(name, int)):
        return
    kinds = "strings or ints" if allow_int_keys else "strings"
    raise ValueError(f"{field_name} keys must be {kinds}: {name}.")


def _check_tensor(tensor: Any, name: Any, field_name: str = "feature") -> None:
    if isinstance(tensor, Tensor | SparseTensor):
        return
    what = f"{field_name} {name}" if name else field_name
    problem = ValueError(f"{what} must be a Tensor or SparseTensor; got {tensor!r}.")
    if not hasattr(tensor, "tensor"):
        raise problem
    # Labelled tensors hold one in `.tensor` and can be converted.
    try:
        convert_to_tensor(tensor)
    except TypeError:
        raise problem from None


class _Receiver(NamedTuple):
    features: Any
    receiver_tensors: Any
    receiver_tensors_alternatives: Any


@export("estimator.export.ServingInputReceiver")
class ServingInputReceiver(_Receiver):
    """What a `serving_input_receiver_fn` returns.

    Args:
      features: what the model is called with: tensors by their keys (texts or numbers),
        or one tensor, whose key is then `feature`.
      receiver_tensors: what a caller feeds: often one placeholder of serialized
        Examples; its key is then `input`.
      receiver_tensors_alternatives: other places to feed the model at, by their names.

    Raises:
      ValueError: a key or a tensor is something else.
    """

    __slots__ = ()

    def __new__(
        cls,
        features: Any,
        receiver_tensors: Any,
        receiver_tensors_alternatives: Any = None,
    ) -> ServingInputReceiver:
        features = wrap_and_check_input_tensors(features, "feature", True)
        receiver_tensors = wrap_and_check_input_tensors(
            receiver_tensors, "receiver_tensor"
        )
        if receiver_tensors_alternatives is not None:
            if not isinstance(receiver_tensors_alternatives, dict):
                raise ValueError(
                    "receiver_tensors_alternatives must be a dict: "
                    f"{receiver_tensors_alternatives}."
                )
            for name, tensors in receiver_tensors_alternatives.items():
                receiver_tensors_alternatives[name] = wrap_and_check_input_tensors(
                    tensors, "receiver_tensors_alternative"
                )
        return super().__new__(
            cls, features, receiver_tensors, receiver_tensors_alternatives
        )


@export("estimator.export.TensorServingInputReceiver")
class TensorServingInputReceiver(_Receiver):
    """A `ServingInputReceiver` whose model takes one tensor, not a dict of them.

    Args:
      features: a tensor, which the model gets as it is.
      receiver_tensors: what a caller feeds.
      receiver_tensors_alternatives: other places to feed the model at, by their names.

    Raises:
      ValueError: something else is given.
    """

    __slots__ = ()

    def __new__(
        cls,
        features: Any,
        receiver_tensors: Any,
        receiver_tensors_alternatives: Any = None,
    ) -> TensorServingInputReceiver:
        if features is None:
            raise ValueError("features must be defined.")
        _check_tensor(features, None)
        checked = ServingInputReceiver(
            features, receiver_tensors, receiver_tensors_alternatives
        )
        return super().__new__(
            cls,
            checked.features[SINGLE_FEATURE_DEFAULT_NAME],
            checked.receiver_tensors,
            checked.receiver_tensors_alternatives,
        )


class UnsupervisedInputReceiver(ServingInputReceiver):
    """What an input receiver function returns for training without labels."""

    __slots__ = ()

    def __new__(cls, features: Any, receiver_tensors: Any) -> UnsupervisedInputReceiver:
        made: Any = super().__new__(cls, features, receiver_tensors, None)
        return made  # type: ignore[no-any-return]


class _SupervisedReceiver(NamedTuple):
    features: Any
    labels: Any
    receiver_tensors: Any


class SupervisedInputReceiver(_SupervisedReceiver):
    """What an input receiver function returns for training or evaluation.

    Args:
      features: what the model is called with.
      labels: what it should give.
      receiver_tensors: what a caller feeds.

    Raises:
      ValueError: a key or a tensor is something else.
    """

    __slots__ = ()

    def __new__(
        cls, features: Any, labels: Any, receiver_tensors: Any
    ) -> SupervisedInputReceiver:
        # Lone tensors are checked, but the model gets them as they are.
        wrap_and_check_input_tensors(features, "feature", True)
        wrap_and_check_input_tensors(labels, "label", True)
        receiver_tensors = wrap_and_check_input_tensors(
            receiver_tensors, "receiver_tensor"
        )
        return super().__new__(cls, features, labels, receiver_tensors)
