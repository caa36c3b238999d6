"""The functions of a SavedModel of objects, as `saved_model_cli show --all` lists them.

`tf.saved_model.save` of TensorFlow 2 style keeps the functions of the object, each with
the signatures that it was traced for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

# What a structure of arguments is made of, after `_decoded`: Python values, and these.


class _Described:
    """A value of a type that only its text is known of."""

    def __init__(self, type_name: str, text: str) -> None:
        self.type_name = type_name
        self._text = text

    def __repr__(self) -> str:
        return self._text


class _TensorSpec(_Described):
    """The dtype and shape of an argument that is a tensor."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__("TensorSpec", text)
        self.name = name


def function_lines(meta_graphs: Iterable[Any]) -> Iterator[str]:
    """The lines about the functions of the objects in MetaGraphDefs; none without."""
    for meta_graph in meta_graphs:
        if meta_graph.HasField("object_graph_def"):
            yield ""
            yield "Defined Functions:"
            yield from _object_lines(meta_graph.object_graph_def)
            return


def _object_lines(objects: Any) -> Iterator[str]:
    if not objects.nodes:
        return
    first = True
    for child in sorted(objects.nodes[0].children, key=lambda c: c.local_name):
        if not 0 <= child.node_id < len(objects.nodes):
            continue
        node = objects.nodes[child.node_id]
        kind = node.WhichOneof("kind")
        if kind == "function":
            names = sorted(node.function.concrete_functions)
        elif kind == "bare_concrete_function":
            names = [node.bare_concrete_function.concrete_function_name]
        else:
            continue
        if not first:
            yield ""
        first = False
        yield f"  Function Name: '{child.local_name}'"
        for number, name in enumerate(names, 1):
            yield f"    Option #{number}"
            yield "      Callable with:"
            if name in objects.concrete_functions:
                signature = objects.concrete_functions[name]
                yield from _signature_lines(signature.canonicalized_input_signature)


def _signature_lines(signature: Any) -> Iterator[str]:
    decoded = _decoded(signature)
    if not isinstance(decoded, tuple) or len(decoded) != 2:
        return
    positional, named = decoded
    for number, value in enumerate(positional, 1):
        yield f"        Argument #{number}"
        yield from _value_lines(value)
    for number, (name, value) in enumerate(named.items(), 1):
        yield f"        Named Argument #{number}"
        yield f"          {name}"
        yield from _value_lines(value)


def _value_lines(value: Any) -> Iterator[str]:
    if isinstance(value, _TensorSpec):
        yield f"          {value.name}: {value!r}"
        return
    if isinstance(value, _Described):
        type_name, text = value.type_name, repr(value)
    else:
        type_name, text = type(value).__name__, _text(value)
    yield f"          DType: {type_name}"
    yield f"          Value: {text}"


def _text(value: Any) -> str:
    if isinstance(value, dict):
        items = (f"'{key}': {_quoted(one)}" for key, one in value.items())
        return f"{{{', '.join(items)}}}"
    if isinstance(value, list | tuple | str):
        return f"[{', '.join(map(_quoted, value))}]"
    return str(value)


def _quoted(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value)


def _decoded(value: Any) -> Any:
    """A StructuredValue as the Python value that it stands for."""
    kind = value.WhichOneof("kind")
    if kind in ("float64_value", "int64_value", "string_value", "bool_value"):
        return getattr(value, kind)
    if kind in ("list_value", "tuple_value"):
        items = [_decoded(one) for one in getattr(value, kind).values]
        return items if kind == "list_value" else tuple(items)
    if kind == "dict_value":
        fields = value.dict_value.fields
        return {key: _decoded(fields[key]) for key in sorted(fields)}
    if kind == "named_tuple_value":
        pairs = value.named_tuple_value.values
        text = ", ".join(f"{pair.key}={_decoded(pair.value)!r}" for pair in pairs)
        name = value.named_tuple_value.name
        return _Described(name, f"{name}({text})")
    return _decoded_type(kind, value)


def _decoded_type(kind: str | None, value: Any) -> Any:
    """A dtype, a shape or a description of a value's type; None for nothing."""
    from tensorloom.framework.types.tensor_shape import TensorShape

    if kind == "tensor_dtype_value":
        return _dtype(value.tensor_dtype_value)
    if kind == "tensor_shape_value":
        return TensorShape(value.tensor_shape_value)
    if kind in ("tensor_spec_value", "bounded_tensor_spec_value"):
        spec = getattr(value, kind)
        text = (
            f"TensorSpec(shape={TensorShape(spec.shape)}, "
            f"dtype={_dtype(spec.dtype)!r}, name={spec.name!r})"
        )
        return _TensorSpec(spec.name, text)
    if kind == "type_spec_value":
        spec = value.type_spec_value
        state = _decoded(spec.type_state)
        parts = state if isinstance(state, tuple) else (state,)
        name = spec.type_spec_class_name
        return _Described(name, f"{name}({', '.join(map(repr, parts))})")
    if kind in ("tensor_value", "numpy_value"):
        return _Described("Tensor", "<a tensor>")
    return None


def _dtype(number: int) -> Any:
    from tensorloom.framework.types import dtypes
    from tensorloom.protos import types_pb2

    try:
        return dtypes.as_dtype(number)
    except TypeError:  # of a later TensorFlow
        names = {int(value): name for name, value in types_pb2.DataType.items()}
        return _Described("DType", names.get(number, str(number)))
