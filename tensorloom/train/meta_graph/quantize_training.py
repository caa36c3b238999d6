"""`tf.train.do_quantize_training_on_graphdef`: a graph that trains as if quantized.

The inputs of products and convolutions are rounded as they will be in a quantized
model. Activations have ranges of their own; of other inputs the range is a moving
average of their extremes, kept in variables that the graph's saver saves too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_proto import make_ndarray, make_tensor_proto

_REWRITTEN = ("MatMul", "Conv2D")
# Op -> (signed, range).
_KNOWN: dict[str, tuple[bool, tuple[float, float] | None]] = {
    "Const": (True, None),
    "Variable": (True, None),
    "VariableV2": (True, None),
    "Relu": (False, None),
    "Relu6": (False, (0.0, 6.0)),
    "Sigmoid": (False, (0.0, 1.0)),
    "Tanh": (True, (-1.0, 1.0)),
}
# What has the range of its first input.
_PASSING = (
    *("Reshape", "ConcatV2", "Identity"),
    *("MaxPool", "AvgPool", "MaxPool3D", "AvgPool3D"),
)
_ALLOWED_INPUTS = 2
_EMA_DECAY = 0.999


@export("train.do_quantize_training_on_graphdef")
def do_quantize_training_on_graphdef(input_graph: Any, num_bits: int) -> Any:
    """A copy of a graph with rounding before each MatMul and Conv2D.

    Gradient nodes (under "gradients") stay as they are. At most two inputs may be of
    unknown ops: they are taken for inputs of the model.

    Args:
      input_graph: a `GraphDef`.
      num_bits: of the rounded values, 1 to 63.

    Raises:
      errors.OutOfRangeError: `num_bits` is out of that range.
      errors.UnimplementedError: there are more inputs of unknown ops.
    """
    if not 1 <= num_bits <= 63:
        raise errors.OutOfRangeError(
            None, None, f"num_bits should be in range [1, 63] but is: {num_bits}"
        )
    graph = type(input_graph)()
    graph.CopyFrom(input_graph)
    rewrite = _Rewrite(graph, num_bits)
    rewrite.run()
    return graph


@dataclass
class _Rewrite:
    """One rewrite of a graph."""

    graph: Any
    num_bits: int
    #: The names of the variables that were added.
    variables: list[str] = field(default_factory=list)
    #: Input -> its rounded form.
    rounded: dict[str, str] = field(default_factory=dict)

    def run(self) -> None:
        """Rewrites the graph in place."""
        self.nodes = {node.name: node for node in self.graph.node}
        original = list(self.graph.node)
        unknown = 0
        for node in original:
            if node.op not in _REWRITTEN or node.name.startswith("gradients"):
                continue
            for place, text in enumerate(node.input):
                if text.startswith("^"):
                    continue
                source = self.nodes[_node_of(text)]
                known = self._range_of(source)
                if known is None:
                    unknown += 1
                    _check_unknown(source, unknown)
                node.input[place] = self._round(source, text, known or (True, None))
        for node in original:
            if node.op == "SaveV2" and self.variables:
                self._save_variables(node)

    def _range_of(self, node: Any) -> tuple[bool, tuple[float, float] | None] | None:
        """Whether a value is signed, and its range; None for an unknown op."""
        while node.op in _PASSING and node.input:
            node = self.nodes[_node_of(node.input[0])]
        return _KNOWN.get(node.op)

    def _add(self, name: str, op: str, inputs: Any = (), **attrs: Any) -> str:
        node = self.graph.node.add(name=name, op=op)
        node.input.extend(inputs)
        for key, value in attrs.items():
            attr = node.attr[key]
            if isinstance(value, dtypes.DType):
                attr.type = value.as_datatype_enum
            elif isinstance(value, bool):
                attr.b = value
            elif isinstance(value, int):
                attr.i = value
            elif isinstance(value, str):
                attr.s = value.encode()
            elif value is None:
                attr.shape.SetInParent()
            elif isinstance(value, list):
                attr.list.type.extend(dtype.as_datatype_enum for dtype in value)
            else:
                attr.tensor.CopyFrom(value)
        return name

    def _const(self, name: str, value: Any, dtype: dtypes.DType) -> str:
        tensor = make_tensor_proto(value, dtype=dtype)
        return self._add(name, "Const", dtype=dtype, value=tensor)

    def _round(
        self, source: Any, text: str, known: tuple[bool, tuple[float, float] | None]
    ) -> str:
        """The name of the rounded value of an input."""
        prefix = source.name
        if prefix in self.rounded:
            return self.rounded[prefix]
        signed, limits = known
        if limits is None:
            low, high = self._moving_range(prefix, text)
        else:
            low = self._const(f"{prefix}/InputMin", limits[0], dtypes.float32)
            high = self._const(f"{prefix}/InputMax", limits[1], dtypes.float32)
        self.rounded[prefix] = self._add(
            f"{prefix}/QuantizeAndDequantizeV2",
            "QuantizeAndDequantizeV2",
            [text, low, high],
            T=dtypes.float32,
            signed_input=signed,
            num_bits=self.num_bits,
            range_given=True,
            round_mode="HALF_TO_EVEN",
            narrow_range=False,
        )
        return self.rounded[prefix]

    def _moving_range(self, prefix: str, text: str) -> tuple[str, str]:
        """Moving averages of the least and greatest element, updated when read."""
        decay = self._const(f"{prefix}/Decay", _EMA_DECAY, dtypes.float32)
        axes = f"{prefix}/ReductionAxes"
        start = self._const(f"{axes}/RangeStart", 0, dtypes.int32)
        delta = self._const(f"{axes}/RangeDelta", 1, dtypes.int32)
        rank = self._add(f"{axes}/InputRank", "Rank", [text], T=dtypes.float32)
        every = self._add(
            f"{axes}/ReductionAxes", "Range", [start, rank, delta], Tidx=dtypes.int32
        )
        extremes = [
            self._add(
                f"{prefix}/{op}",
                op,
                [text, every],
                keep_dims=False,
                T=dtypes.float32,
                Tidx=dtypes.int32,
            )
            for op in ("Min", "Max")
        ]
        low, high = [self._moving_average(extreme, decay) for extreme in extremes]
        return low, high

    def _moving_average(self, value: str, decay: str) -> str:
        """Before it has a value, the variable takes over the first one."""
        real = dtypes.float32
        variable = self._add(
            f"{value}/Variable",
            "VariableV2",
            shape=None,
            dtype=real,
            container="",
            shared_name="",
        )
        self.variables.append(variable)
        known = self._add(
            f"{value}/IsInitialized", "IsVariableInitialized", [variable], dtype=real
        )
        switch = self._add(f"{value}/Switch", "Switch", [value, known], T=real)
        one = self._const(f"{value}/EMA/OneConst", 1.0, real)
        rest = self._add(f"{value}/EMA/DecayComplement", "Sub", [one, decay], T=real)
        difference = self._add(
            f"{value}/EMA/ValueDiff", "Sub", [variable, f"{switch}:1"], T=real
        )
        update = self._add(
            f"{value}/EMA/UpdateValue", "Mul", [difference, rest], T=real
        )
        average = self._add(f"{value}/EMA/EMAValue", "Sub", [variable, update], T=real)
        merge = self._add(f"{value}/Merge", "Merge", [switch, average], T=real, N=2)
        return self._assign(f"{value}/AssignValue", variable, merge)

    def _assign(self, name: str, variable: str, value: str) -> str:
        return self._add(
            name,
            "Assign",
            [variable, value],
            T=dtypes.float32,
            use_locking=True,
            validate_shape=True,
        )

    # --- checkpoints -----------------------------------------------------------------

    def _save_variables(self, save: Any) -> None:
        """Adds the variables to what a saver saves and restores."""
        prefix, names, slices = (_node_of(text) for text in save.input[:3])
        self._append_texts(self.nodes[names], self.variables)
        self._append_texts(self.nodes[slices], [""] * len(self.variables))
        save.input.extend(self.variables)
        real = dtypes.float32.as_datatype_enum
        save.attr["dtypes"].list.type.extend([real] * len(self.variables))
        scope = save.name.rpartition("/")[0]
        restore_all = self.nodes.get(f"{scope}/restore_all" if scope else "restore_all")
        if restore_all is None:
            return
        for number, variable in enumerate(self.variables):
            restore_all.input.append(
                "^" + self._restore(scope, prefix, 2 * number, variable)
            )

    def _restore(self, scope: str, prefix: str, number: int, variable: str) -> str:
        name = f"{scope}/RestoreV2/_{number}_qt"
        names = self._const(f"{name}/tensor_names", [variable], dtypes.string)
        slices = self._const(f"{name}/shape_and_slices", [""], dtypes.string)
        value = self._add(
            name, "RestoreV2", [prefix, names, slices], dtypes=[dtypes.float32]
        )
        return self._assign(f"{scope}/Assign/_{number + 1}_qt", variable, value)

    def _append_texts(self, node: Any, texts: list[str]) -> None:
        tensor = node.attr["value"].tensor
        known = [bytes(text) for text in make_ndarray(tensor).reshape(-1)]
        longer = known + [text.encode() for text in texts]
        tensor.CopyFrom(make_tensor_proto(longer, dtype=dtypes.string))


def _node_of(text: str) -> str:
    """The node of an input such as `a`, `a:1` or `^a`."""
    return text.lstrip("^").partition(":")[0]


def _check_unknown(source: Any, count: int) -> None:
    if count > _ALLOWED_INPUTS:
        raise errors.UnimplementedError(
            None,
            None,
            f"Found an unknown op: {source.name} with type: {source.op}; Unknown ops "
            "are considered as model input for now and only "
            f"{_ALLOWED_INPUTS} inputs are supported currently.",
        )
