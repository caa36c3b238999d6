"""`ag__`: what converted code calls."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Final

from tensorloom.autograph import function_scope, options, special_functions
from tensorloom.autograph.conversion import marks
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


def keywords(**given: Any) -> dict[str, Any]:
    """The keyword arguments of a call. Raises TypeError if one is given twice."""
    return given


# Converted code has it as `ag__`. `calls.py` adds `converted_call`, which needs it.
RUNTIME_MODULE: Final = ModuleType("ag__")
vars(RUNTIME_MODULE).update(
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
    match_staging_level=special_functions.match_staging_level,
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
