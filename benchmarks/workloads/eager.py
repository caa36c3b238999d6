"""Ops one at a time, without a graph: what a call costs beside the arithmetic.

In TensorFlow by the call that its generated Python functions make, with handles that
are there already.
"""

import numpy as np

from benchmarks.workloads.table import Table

table = Table()

CALLS = 100


def repeated(call):
    def step():
        for _ in range(CALLS):
            call()

    return step


def executor(tf):
    """(what makes a handle of an array, what runs an op with handles)."""
    if tf.__name__ == "tensorloom":
        from tensorloom.eager import Context

        context = Context()
        return context.handle, context.execute
    from tensorflow.python.eager import context as eager

    context = eager.context()
    context.ensure_initialized()

    def handle(value):
        with eager.eager_mode():
            return tf.constant(value)

    if tf.__version__.startswith("1."):
        from tensorflow.python import pywrap_tensorflow

        run = pywrap_tensorflow.TFE_Py_FastPathExecute
        place = context._handle, context._thread_local_data.device_name
        return handle, lambda op, inputs: run(*place, op, None, None, *inputs)
    from tensorflow.python import pywrap_tfe

    run = pywrap_tfe.TFE_Py_FastPathExecute
    return handle, lambda op, inputs: run(context, op, None, *inputs)


@table.step("eager AddV2 of scalars", target=1.0, calls=CALLS)
def eager_add(tf):
    handle, execute = executor(tf)
    inputs = [handle(np.float32(1.5)), handle(np.float32(2.0))]
    yield repeated(lambda: execute("AddV2", inputs))


@table.step("eager MatMul of 32x32", target=1.0, calls=CALLS)
def eager_product(tf):
    handle, execute = executor(tf)
    matrix = handle(np.ones((32, 32), np.float32))
    yield repeated(lambda: execute("MatMul", [matrix, matrix]))


@table.step("eager variable: assign_add and read", target=1.0, calls=CALLS)
def eager_variable(tf):
    handle, execute = executor(tf)
    one = handle(np.float32(1.0))
    if tf.__name__ == "tensorloom":
        attrs = {"dtype": tf.float32, "shape": []}
        (variable,) = execute("VarHandleOp", [], attrs)
        execute("AssignVariableOp", [variable, one])
        kind = {"dtype": tf.float32}

        def update():
            execute("AssignAddVariableOp", [variable, one])
            return execute("ReadVariableOp", [variable], kind)

    else:
        dtype = ["dtype", tf.float32.as_datatype_enum]
        variable = execute("VarHandleOp", [*dtype, "shape", []])
        execute("AssignVariableOp", [variable, one])

        def update():
            execute("AssignAddVariableOp", [variable, one])
            return execute("ReadVariableOp", [variable, *dtype])

    yield repeated(update)
