"""`ag__`: what converted code calls."""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any

from tensorloom.autograph import function_scope, options
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
from tensorloom.framework.graph.tensor import is_tensor
from tensorloom.ops.array.constant import constant


def keywords(**given: Any) -> dict[str, Any]:
    """The keyword arguments of a call. Raises TypeError if one is given twice."""
    return given


def match_staging_level(value: Any, like_value: Any) -> Any:
    """A value as a tensor, if another is one."""
    return constant(value) if is_tensor(like_value) else value


@functools.cache
def runtime_module() -> ModuleType:
    """The module, made once."""
    from tensorloom.autograph.conversion import calls, marks

    module = ModuleType("ag__")
    vars(module).update(
        ConversionOptions=options.ConversionOptions,
        Feature=options.Feature,
        FunctionScope=function_scope.FunctionScope,
        GetItemOpts=slices.GetItemOpts,
        ListPopOpts=data_structures.ListPopOpts,
        ListStackOpts=data_structures.ListStackOpts,
        STD=options.STANDARD_OPTIONS,
        Undefined=special_values.Undefined,
        UndefinedReturnValue=special_values.UndefinedReturnValue,
        and_=logical.and_,
        assert_stmt=exceptions.assert_stmt,
        converted_call=calls.converted_call,
        do_not_convert_internal=marks.do_not_convert_internal,
        eq=logical.eq,
        for_stmt=for_stmt.for_stmt,
        get_item=slices.get_item,
        get_no_state=if_stmt.get_no_state,
        if_stmt=if_stmt.if_stmt,
        keywords=keywords,
        len_=python_builtins.len_,
        list_append=data_structures.list_append,
        list_pop=data_structures.list_pop,
        list_stack=data_structures.list_stack,
        match_staging_level=match_staging_level,
        new_list=data_structures.new_list,
        not_=logical.not_,
        not_eq=logical.not_eq,
        or_=logical.or_,
        retval=special_values.retval,
        set_item=slices.set_item,
        set_no_state=if_stmt.set_no_state,
        while_stmt=while_stmt.while_stmt,
        with_function_scope=function_scope.with_function_scope,
    )
    return module
