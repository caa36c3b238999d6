"""The names of `tf.contrib.framework` that are other modules' too."""

from __future__ import annotations

from tensorloom.client.importing.scoped_names import prepend_scope, strip_scope
from tensorloom.client.queues.record_input import RecordInput
from tensorloom.compat.internals.bounded_spec import BoundedTensorSpec
from tensorloom.compat.internals.deprecation import (
    deprecated,
    deprecated_arg_values,
    deprecated_args,
)
from tensorloom.framework.export import export_value

export_value(BoundedTensorSpec, "contrib.framework.BoundedTensorSpec")
export_value(RecordInput, "contrib.framework.RecordInput")
export_value(deprecated, "contrib.framework.deprecated")
export_value(deprecated_arg_values, "contrib.framework.deprecated_arg_values")
export_value(deprecated_args, "contrib.framework.deprecated_args")
export_value(prepend_scope, "contrib.framework.prepend_name_scope")
export_value(strip_scope, "contrib.framework.strip_name_scope")
