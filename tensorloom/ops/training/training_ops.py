"""Optimizer updates: one op a variable and step, in four forms.

For each rule in the table below there are `Apply<Rule>` (reference variables),
`ResourceApply<Rule>` (resource variables), and the `Sparse` forms of both, in which
`grad` holds rows of the gradient and `indices` says which. The `_Fused` forms update
all the variables of a step in one call, the sparse ones with the sums of the gradients
of rows that `indices` names several times; passes of the master build them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.state.reference_variable import NUMBERS

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_registry import ShapeFn
    from tensorloom.framework.registry.shape_inference import InferenceContext


@dataclass(frozen=True)
class Rule:
    """The signature of one update rule, in the order of TensorFlow's ops."""

    name: str
    state: tuple[str, ...]  # the variable and its slots
    inputs: tuple[str, ...]  # scalars and the gradient, in order
    attrs: tuple[str, ...] = ()  # after use_locking
    gradient: str = "grad"  # which of `inputs` has the variable's shape
    sparse: bool = True  # has the Sparse forms
    dense_reference: bool = True  # has the form for reference variables
    doc: str = ""
    sparse_gradient: str = ""  # its name in the Sparse forms, where it differs

    def input_names(self, sparse: bool) -> list[str]:
        """The inputs after the state, in order."""
        names = list(self.inputs)
        if sparse:
            at = names.index(self.gradient)
            names[at : at + 1] = [self.gradient_name(sparse), "indices"]
        return names

    def gradient_name(self, sparse: bool) -> str:
        """The name of the gradient."""
        return (sparse and self.sparse_gradient) or self.gradient


RULES = (
    Rule(
        "GradientDescent",
        ("var",),
        ("alpha", "delta"),
        gradient="delta",
        sparse=False,
        doc="var -= alpha * delta.",
    ),
    Rule(
        "Momentum",
        ("var", "accum"),
        ("lr", "grad", "momentum"),
        ("use_nesterov: bool = false",),
        doc="accum = accum * momentum + grad; var -= lr * accum.",
    ),
    Rule(
        "KerasMomentum",
        ("var", "accum"),
        ("lr", "grad", "momentum"),
        ("use_nesterov: bool = false",),
        dense_reference=False,
        doc="accum = accum * momentum - lr * grad; var += accum.",
    ),
    Rule(
        "Adam",
        ("var", "m", "v"),
        (
            "beta1_power",
            "beta2_power",
            "lr",
            "beta1",
            "beta2",
            "epsilon",
            "grad",
        ),
        ("use_nesterov: bool = false",),
        sparse=False,
        doc="Adam (Kingma and Ba, 2014), with epsilon outside the corrected root.",
    ),
    Rule(
        "RMSProp",
        ("var", "ms", "mom"),
        ("lr", "rho", "momentum", "epsilon", "grad"),
        doc="ms += (1 - rho) * (grad^2 - ms); mom = momentum * mom + "
        "lr * grad / sqrt(ms + epsilon); var -= mom.",
    ),
    Rule(
        "CenteredRMSProp",
        ("var", "mg", "ms", "mom"),
        ("lr", "rho", "momentum", "epsilon", "grad"),
        doc="RMSProp over the variance: sqrt(ms - mg^2 + epsilon).",
    ),
    Rule(
        "Adagrad",
        ("var", "accum"),
        ("lr", "grad"),
        ("update_slots: bool = true",),
        doc="accum += grad^2; var -= lr * grad / sqrt(accum).",
    ),
    Rule(
        "AdagradV2",
        ("var", "accum"),
        ("lr", "epsilon", "grad"),
        ("update_slots: bool = true",),
        doc="accum += grad^2; var -= lr * grad / (sqrt(accum) + epsilon).",
    ),
    Rule(
        "Adadelta",
        ("var", "accum", "accum_update"),
        ("lr", "rho", "epsilon", "grad"),
        doc="Adadelta (Zeiler, 2012).",
    ),
    Rule(
        "Ftrl",
        ("var", "accum", "linear"),
        ("grad", "lr", "l1", "l2", "lr_power"),
        doc="Follow the regularized leader, proximal (McMahan et al., 2013).",
    ),
    Rule(
        "FtrlV2",
        ("var", "accum", "linear"),
        ("grad", "lr", "l1", "l2", "l2_shrinkage", "lr_power"),
        doc="Ftrl with a shrinkage term that is not part of the accumulator.",
    ),
    Rule(
        "AdaMax",
        ("var", "m", "v"),
        ("beta1_power", "lr", "beta1", "beta2", "epsilon", "grad"),
        sparse=False,
        doc="Adam with the infinity norm (Kingma and Ba, 2014, section 7.1).",
    ),
    Rule(
        "AdamWithAmsgrad",
        ("var", "m", "v", "vhat"),
        (
            "beta1_power",
            "beta2_power",
            "lr",
            "beta1",
            "beta2",
            "epsilon",
            "grad",
        ),
        sparse=False,
        dense_reference=False,
        doc="Adam that divides by the largest v so far (Reddi et al., 2018).",
    ),
    Rule(
        "AdagradDA",
        ("var", "gradient_accumulator", "gradient_squared_accumulator"),
        ("grad", "lr", "l1", "l2", "global_step"),
        doc="Adagrad by dual averaging (Duchi et al., 2011).",
    ),
    Rule(
        "AddSign",
        ("var", "m"),
        ("lr", "alpha", "sign_decay", "beta", "grad"),
        sparse=False,
        doc="var -= lr * (alpha + sign_decay * sign(grad) * sign(m)) * grad.",
    ),
    Rule(
        "PowerSign",
        ("var", "m"),
        ("lr", "logbase", "sign_decay", "beta", "grad"),
        sparse=False,
        doc="var -= lr * exp(logbase * sign_decay * sign(grad) * sign(m)) * grad.",
    ),
    Rule(
        "ProximalAdagrad",
        ("var", "accum"),
        ("lr", "l1", "l2", "grad"),
        doc="Adagrad followed by the proximal operator of L1 and L2.",
    ),
    Rule(
        "ProximalGradientDescent",
        ("var",),
        ("alpha", "l1", "l2", "delta"),
        gradient="delta",
        sparse_gradient="grad",
        doc="Gradient descent followed by the proximal operator of L1 and L2.",
    ),
)

FUSED_RULES = ("GradientDescent", "Momentum", "Adam", "RMSProp", "Adagrad")

# --- shape functions ---------------------------------------------------------


def _apply_shape_fn(rule: Rule, resource: bool, sparse: bool) -> ShapeFn:
    names = rule.input_names(sparse)
    gradient_name = rule.gradient_name(sparse)
    count = len(rule.state)

    def shape_fn(c: InferenceContext) -> Any:
        shape = _state_shape(c, count, resource)
        for i, name in enumerate(names, start=count):
            if name == gradient_name:
                shape = _merge_gradient(c, shape, i, sparse)
            elif name != "indices":
                c.with_rank(c.input_shape(i), 0)
        return () if resource else shape

    return shape_fn


def _state_shape(c: InferenceContext, count: int, resource: bool) -> TensorShape:
    shape = TensorShape.of(None)
    for i in range(count):
        if not resource:
            shape = c.merge(shape, c.input_shape(i))
        elif (data := c.handle_data(i)) is not None:
            shape = c.merge(shape, data.shape)
    return shape


def _merge_gradient(
    c: InferenceContext, shape: TensorShape, i: int, sparse: bool
) -> TensorShape:
    gradient = c.input_shape(i)
    if not sparse:
        return c.merge(shape, gradient)
    indices = c.with_rank(c.input_shape(i + 1), 1)
    if gradient.rank is not None and shape.rank:
        rows = TensorShape.of((None,)).concatenate(shape[1:])
        merged = c.merge(gradient, rows)
        c.merge(merged[:1], indices)
    return shape


def _fused_shape_fn(rule: Rule, resource: bool) -> ShapeFn:
    def shape_fn(c: InferenceContext) -> Any:
        if resource:
            return ()
        return [c.input_shape(i) for i in range(c.attrs["N"])]

    return shape_fn


# --- registrations -----------------------------------------------------------


# Of the inputs that are not of the variable's dtype.
_INPUT_TYPES = {"indices": "Tindices", "global_step": "int64"}


def _register(rule: Rule, resource: bool, sparse: bool) -> None:
    kind = "resource" if resource else "Ref(T)"
    inputs = [f"{name}: {kind}" for name in rule.state]
    inputs += [
        f"{name}: {_INPUT_TYPES.get(name, 'T')}" for name in rule.input_names(sparse)
    ]
    attrs = [f"T: {NUMBERS}"]
    if sparse:
        attrs.append("Tindices: {int32, int64}")
    form = ("Resource" if resource else "") + ("Sparse" if sparse else "")
    register_op(
        f"{form}Apply{rule.name}",
        inputs=inputs,
        outputs=[] if resource else ["out: Ref(T)"],
        attrs=[*attrs, "use_locking: bool = false", *rule.attrs],
        shape_fn=_apply_shape_fn(rule, resource, sparse),
        stateful=resource,
        doc=rule.doc + (" For the rows that indices names." if sparse else ""),
    )


def _register_fused(rule: Rule, resource: bool, sparse: bool) -> None:
    kind = "resource" if resource else "Ref(T)"
    inputs = [f"{name}: N * {kind}" for name in rule.state]
    for name in rule.input_names(sparse):
        is_listed = name in ("indices", rule.gradient_name(sparse))
        number = "N * " if is_listed else ""
        inputs.append(f"{name}: {number}{_INPUT_TYPES.get(name, 'T')}")
    form = ("Resource" if resource else "") + ("Sparse" if sparse else "")
    register_op(
        f"_Fused{form}Apply{rule.name}",
        inputs=inputs,
        outputs=[] if resource else ["out: N * Ref(T)"],
        attrs=[
            "N: int >= 1",
            f"T: {NUMBERS}",
            *(_FUSED_SPARSE_ATTRS if sparse else []),
            "use_locking: bool = false",
            *rule.attrs,
        ],
        shape_fn=_fused_shape_fn(rule, resource),
        gradient=NOT_DIFFERENTIABLE,
        stateful=resource,
        doc=f"Apply{rule.name} on all variables of a step."
        + (" Once for each row that indices names." if sparse else ""),
    )


# `are_distinct`: no row comes twice in `indices`.
_FUSED_SPARSE_ATTRS = ["Tindices: {int32, int64}", "are_distinct: bool = false"]

for _rule in RULES:
    for _resource in (False, True):
        if _resource or _rule.dense_reference:
            _register(_rule, _resource, sparse=False)
            if _rule.sparse:
                _register(_rule, _resource, sparse=True)
                _register_fused(_rule, _resource, sparse=True)
        if _rule.name in FUSED_RULES:
            _register_fused(_rule, _resource, sparse=False)

# --- builders ----------------------------------------------------------------


def apply_update(rule: str, state: tuple[Any, ...], **arguments: Any) -> Any:
    """One update of a variable and its slots by a rule of the table.

    Args:
      rule: the rule's name, such as "Adam".
      state: the variable and its slots, all reference or all resource variables, or
        a variable whose rows have keys.
      arguments: the rule's scalars, gradient and attrs by name; `indices` as well for
        the sparse form, whose `grad` holds rows.
    """
    if hasattr(state[0], "apply_rule"):
        return state[0].apply_rule(rule, state[1:], arguments)
    resource = hasattr(state[0], "handle")
    form = "Resource" if resource else ""
    if "indices" in arguments:
        form += "Sparse"
    names = next(r.state for r in RULES if r.name == rule)
    for name, variable in zip(names, state, strict=True):
        arguments[name] = variable.handle if resource else variable
    return apply_op(f"{form}Apply{rule}", **arguments)
