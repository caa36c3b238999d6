"""The names of `tf.contrib.autograph` and its `operators`."""

from __future__ import annotations

from typing import Any

from tensorloom.autograph import errors, language, options, special_functions
from tensorloom.autograph.conversion import api, calls, marks
from tensorloom.autograph.operators import (
    data_structures,
    exceptions,
    for_stmt,
    if_stmt,
    logical,
    python_builtins,
    slices,
    special_values,
    while_stmt,
)
from tensorloom.autograph.stack_traces import StackTraceMapper
from tensorloom.framework.export import export_value

_value: Any
for _value in (
    StackTraceMapper,
    api.convert,
    api.to_code,
    api.to_graph,
    calls.converted_call,
    errors.AutoGraphError,
    language.set_element_type,
    language.set_loop_options,
    marks.do_not_convert,
    options.ConversionOptions,
    options.Feature,
    special_functions.stack,
):
    export_value(_value, f"contrib.autograph.{_value.__name__}")

for _value in (
    data_structures.ListPopOpts,
    data_structures.ListStackOpts,
    data_structures.list_append,
    data_structures.list_pop,
    data_structures.list_stack,
    data_structures.new_list,
    exceptions.assert_stmt,
    for_stmt.for_stmt,
    if_stmt.if_stmt,
    logical.and_,
    logical.eq,
    logical.not_,
    logical.not_eq,
    logical.or_,
    python_builtins.float_,
    python_builtins.int_,
    python_builtins.len_,
    python_builtins.print_,
    python_builtins.range_,
    slices.GetItemOpts,
    slices.get_item,
    slices.set_item,
    special_values.Undefined,
    special_values.UndefinedReturnValue,
    special_values.is_undefined,
    special_values.is_undefined_return,
    special_values.retval,
    while_stmt.while_stmt,
):
    export_value(_value, f"contrib.autograph.operators.{_value.__name__}")
