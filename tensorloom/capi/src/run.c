/* TF_SessionRun and partial runs. */
#include <stdlib.h>
#include <string.h>

#include "session.h"

/* --- Steps that were run before ------------------------------------------------ */

static char* put(char* at, const void* value, size_t size) {
  memcpy(at, value, size);
  return at + size;
}

static char* put_outputs(char* at, const TF_Output* outputs, int count) {
  for (int i = 0; i < count; i++) {
    at = put(at, &outputs[i].oper, sizeof outputs[i].oper);
    at = put(at, &outputs[i].index, sizeof outputs[i].index);
  }
  return at;
}

/* A step as bytes: the same handles in the same places are the same step. */
static PyObject* key_of(const tl_step* step) {
  size_t output = sizeof(TF_Operation*) + sizeof(int);
  size_t size = 2 * sizeof(int) +
                output * ((size_t)step->num_inputs + (size_t)step->num_outputs) +
                sizeof(TF_Operation*) * (size_t)step->num_targets;
  PyObject* key = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
  if (key == NULL) return NULL;
  char* at = PyBytes_AS_STRING(key);
  at = put(at, &step->num_inputs, sizeof(int));
  at = put(at, &step->num_outputs, sizeof(int));
  at = put_outputs(at, step->inputs, step->num_inputs);
  at = put_outputs(at, step->outputs, step->num_outputs);
  if (step->num_targets > 0)
    put(at, step->targets, sizeof(TF_Operation*) * (size_t)step->num_targets);
  return key;
}

static unsigned mixed(unsigned hash, const void* pointer) {
  return (hash ^ (unsigned)((uintptr_t)pointer >> 4)) * 16777619u;
}

/* A number of a step for tl_enter_step, from 1. */
static unsigned kind_of(const TF_Session* session, const tl_step* step) {
  unsigned hash = mixed(2166136261u, session);
  for (int i = 0; i < step->num_outputs; i++) hash = mixed(hash, step->outputs[i].oper);
  for (int i = 0; i < step->num_targets; i++) hash = mixed(hash, step->targets[i]);
  return 1 + (hash >> 8) % (TL_KINDS - 1);
}

/* The lists of a step's tensors and operations, as arguments after the session. */
static PyObject* step_arguments(PyObject* session, const tl_step* step,
                                TF_Status* status) {
  PyObject* inputs = tl_output_list(step->inputs, step->num_inputs, "inputs", status);
  PyObject* outputs =
      inputs ? tl_output_list(step->outputs, step->num_outputs, "outputs", status)
             : NULL;
  PyObject* targets = outputs ? tl_operation_list(step->targets, step->num_targets,
                                                  "target_opers", status)
                              : NULL;
  if (targets != NULL) return Py_BuildValue("(ONNN)", session, inputs, outputs, targets);
  Py_XDECREF(inputs), Py_XDECREF(outputs);
  return NULL;
}

/* The plan of a step; a new reference, or NULL with a status. Threads that make it at the
 * same time get the one that was first. */
static PyObject* plan_of(TF_Session* session, const tl_step* step, TF_Status* status) {
  PyObject* key = key_of(step);
  if (key == NULL) {
    tl_raised(status);
    return NULL;
  }
  PyObject* plan = PyDict_GetItemWithError(session->plans, key);
  if (plan == NULL) {
    PyObject* arguments = step_arguments(session->session, step, status);
    PyObject* make = arguments ? tl_function("sessions.Plan") : NULL;
    PyObject* made = make ? PyObject_CallObject(make, arguments) : NULL;
    if (made == NULL) {
      if (PyErr_Occurred()) tl_raised(status);
    } else {
      plan = PyDict_SetDefault(session->plans, key, made);
      if (plan == NULL) tl_raised(status);
      Py_DECREF(made);
    }
    Py_XDECREF(arguments);
  }
  Py_DECREF(key);
  return Py_XNewRef(plan);
}

/* --- Results ------------------------------------------------------------------- */

static void delete_all(TF_Tensor** tensors, int count) {
  for (int i = 0; i < count; i++) {
    TF_DeleteTensor(tensors[i]);
    tensors[i] = NULL;
  }
}

/* The dtype of an output's values: a reference is to values of its base. */
static TF_DataType value_type(TF_Output output) {
  enum { REFERENCE = 100 };
  return (TF_DataType)(TF_OperationOutputType(output) % REFERENCE);
}

/* Makes tensors of a sequence of values, all or none. Drops the sequence. */
static void put_results(PyObject* sequence, const tl_step* step, TF_Tensor** results,
                        TF_Status* status) {
  PyObject* values = PySequence_Fast(sequence, "the results of a step are no sequence");
  Py_DECREF(sequence);
  if (values == NULL) {
    tl_raised(status);
    return;
  }
  for (int i = 0; i < step->num_outputs; i++) {
    results[i] = tl_tensor(PySequence_Fast_GET_ITEM(values, i),
                           value_type(step->outputs[i]), status);
    if (results[i] != NULL) continue;
    delete_all(results, i);
    break;
  }
  Py_DECREF(values);
}

static int are_given(TF_Session* session, const tl_step* step,
                     TF_Tensor* const* input_values, TF_Tensor** output_values,
                     TF_Status* status) {
  if (!tl_array_given(output_values, step->num_outputs, "output_values", status))
    return 0;
  if (step->num_outputs > 0)
    memset(output_values, 0, sizeof *output_values * (size_t)step->num_outputs);
  return tl_given(session, "session", status) &&
         tl_array_given(step->inputs, step->num_inputs, "inputs", status) &&
         tl_array_given(input_values, step->num_inputs, "input_values", status) &&
         tl_array_given(step->outputs, step->num_outputs, "outputs", status) &&
         tl_array_given(step->targets, step->num_targets, "target_opers", status);
}

/* --- Whole steps --------------------------------------------------------------- */

static PyObject* run_plan(PyObject* plan, PyObject* values, const TF_Buffer* options,
                          TF_Buffer* metadata, TF_Status* status) {
  if (options == NULL && metadata == NULL) {
    static PyObject* run; /* the name of the method */
    if (run == NULL) run = PyUnicode_InternFromString("run");
    PyObject* results = PyObject_CallMethodOneArg(plan, run, values);
    if (results == NULL) tl_raised(status);
    else tl_ok(status);
    return results;
  }
  if (metadata != NULL && metadata->data != NULL) {
    tl_fail(status, TF_INVALID_ARGUMENT, "Passing non-empty run_metadata is invalid.");
    return NULL;
  }
  PyObject* pair = tl_call(
      status, "sessions.run_traced", "(OOy#)", plan, values,
      options && options->length ? options->data : "",
      (Py_ssize_t)(options ? options->length : 0));
  if (pair == NULL) return NULL;
  PyObject* results = Py_NewRef(PyTuple_GET_ITEM(pair, 0));
  PyObject* message = PyTuple_GET_ITEM(pair, 1);
  if (metadata != NULL &&
      !tl_fill_buffer(metadata, PyBytes_AS_STRING(message),
                      (size_t)PyBytes_GET_SIZE(message), status))
    Py_CLEAR(results);
  Py_DECREF(pair);
  return results;
}

void TF_SessionRun(TF_Session* session, const TF_Buffer* run_options,
                   const TF_Output* inputs, TF_Tensor* const* input_values,
                   int ninputs, const TF_Output* outputs, TF_Tensor** output_values,
                   int noutputs, const TF_Operation* const* target_opers, int ntargets,
                   TF_Buffer* run_metadata, TF_Status* status) {
  tl_gil gil;
  const tl_step step = {inputs, ninputs, outputs, noutputs, target_opers, ntargets};
  if (!are_given(session, &step, input_values, output_values, status) ||
      !tl_enter_step(&gil, kind_of(session, &step), status))
    return;
  PyObject* plan = plan_of(session, &step, status);
  PyObject* values =
      plan ? tl_array_list(input_values, ninputs, "input_values", status) : NULL;
  if (values != NULL) {
    PyObject* results = run_plan(plan, values, run_options, run_metadata, status);
    if (results != NULL) put_results(results, &step, output_values, status);
    Py_DECREF(values);
  }
  Py_XDECREF(plan);
  tl_leave(gil);
}

/* --- Partial runs -------------------------------------------------------------- */

void TF_SessionPRunSetup(TF_Session* session, const TF_Output* inputs, int ninputs,
                         const TF_Output* outputs, int noutputs,
                         const TF_Operation* const* target_opers, int ntargets,
                         const char** handle, TF_Status* status) {
  tl_gil gil;
  const tl_step step = {inputs, ninputs, outputs, noutputs, target_opers, ntargets};
  if (!tl_given(handle, "handle", status)) return;
  *handle = NULL;
  if (!tl_given(session, "session", status) || !tl_enter(&gil, status)) return;
  PyObject* arguments = step_arguments(session->session, &step, status);
  PyObject* setup = arguments ? tl_function("sessions.partial_run_setup") : NULL;
  PyObject* name = setup ? PyObject_CallObject(setup, arguments) : NULL;
  const char* text = name ? PyUnicode_AsUTF8(name) : NULL;
  if (text == NULL) {
    if (PyErr_Occurred()) tl_raised(status);
  } else {
    *handle = strdup(text);
    tl_ok(status);
  }
  Py_XDECREF(name), Py_XDECREF(arguments);
  tl_leave(gil);
}

void TF_DeletePRunHandle(const char* handle) { free((char*)handle); }

void TF_SessionPRun(TF_Session* session, const char* handle, const TF_Output* inputs,
                    TF_Tensor* const* input_values, int ninputs,
                    const TF_Output* outputs, TF_Tensor** output_values, int noutputs,
                    const TF_Operation* const* target_opers, int ntargets,
                    TF_Status* status) {
  tl_gil gil;
  const tl_step step = {inputs, ninputs, outputs, noutputs, target_opers, ntargets};
  if (!are_given(session, &step, input_values, output_values, status) ||
      !tl_given(handle, "handle", status) || !tl_enter(&gil, status))
    return;
  PyObject* arguments = step_arguments(session->session, &step, status);
  PyObject* values =
      arguments ? tl_array_list(input_values, ninputs, "input_values", status) : NULL;
  if (values != NULL) {
    PyObject* results = tl_call(status, "sessions.partial_run", "(sON)", handle,
                                arguments, values);
    if (results != NULL) put_results(results, &step, output_values, status);
  }
  Py_XDECREF(arguments);
  tl_leave(gil);
}
