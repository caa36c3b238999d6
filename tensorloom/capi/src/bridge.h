/* Between C and the Python side of the library, the modules of tensorloom.capi.

   A function of the API that needs Python looks like this:

     tl_gil gil;
     if (!tl_enter(&gil, status)) return NULL;
     PyObject* result = tl_call(status, "graphs.something", "(Os)", graph->graph, name);
     ...
     tl_leave(gil);

   tl_call calls the function `something` of tensorloom/capi/graphs.py. When that raises,
   the status says what, and the result is NULL; otherwise the status is TF_OK. */
#ifndef TENSORLOOM_CAPI_BRIDGE_H_
#define TENSORLOOM_CAPI_BRIDGE_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "memory.h"
#include "turns.h"

/* --- interpreter.c: the interpreter, and who holds its lock -------------------- */

typedef struct tl_gil {
  PyGILState_STATE state;
  tl_turn turn;
} tl_gil;

/* Starts Python if nobody has, and takes its lock. False with a status if it cannot. */
TL_LOCAL int tl_enter(tl_gil* gil, TF_Status* status);
TL_LOCAL void tl_leave(tl_gil gil);
/* tl_enter for a step; steps that take about as long as each other have one number. */
TL_LOCAL int tl_enter_step(tl_gil* gil, unsigned kind, TF_Status* status);
/* Drops a reference to an object where the lock may not be held. */
TL_LOCAL void tl_drop(PyObject* object);

/* --- call.c: calls, errors, bytes ---------------------------------------------- */

/* Calls `module.function` with Py_BuildValue's format, which has parentheses. A new
   reference. */
TL_LOCAL PyObject* tl_call(TF_Status* status, const char* function, const char* format,
                           ...);
/* tl_call for a function that returns None. Whether it worked. */
TL_LOCAL int tl_do(TF_Status* status, const char* function, const char* format, ...);
/* tl_call for a function that returns a number; `otherwise` if it raised. */
TL_LOCAL long long tl_number(TF_Status* status, long long otherwise,
                             const char* function, const char* format, ...);
/* tl_call for a function that returns bytes, which go to an empty buffer. */
TL_LOCAL void tl_message(TF_Status* status, TF_Buffer* buffer, const char* function,
                         const char* format, ...);
/* The function of that name; a borrowed reference, or NULL with an exception. */
TL_LOCAL PyObject* tl_function(const char* name);
/* Clears the exception that was raised, and says it in the status. */
TL_LOCAL void tl_raised(TF_Status* status);

/* --- array.c: tensors and arrays ----------------------------------------------- */

/* The value of a tensor, over its memory where it has numbers. A new reference. */
TL_LOCAL PyObject* tl_array(const TF_Tensor* tensor, TF_Status* status);
/* The values of several tensors as a list. */
TL_LOCAL PyObject* tl_array_list(TF_Tensor* const* tensors, int count, const char* what,
                                 TF_Status* status);
/* A tensor with a value that a step or an attr has. */
TL_LOCAL TF_Tensor* tl_tensor(PyObject* value, TF_DataType dtype, TF_Status* status);

/* --- handles.c: graphs and operations ------------------------------------------ */

struct TF_Graph {
  PyObject* graph;      /* tf.Graph */
  PyObject* operations; /* dict: tf.Operation -> address of its TF_Operation */
  TF_Operation* first;  /* all of them, to be freed with the graph */
  int references;       /* the program's, and one for each session; under the lock */
  TF_Graph* parent;     /* of a loop's graph: where the loop will be */
  TF_Output* parent_inputs;
};

struct TF_Operation {
  TF_Graph* graph;
  PyObject* operation; /* tf.Operation; the graph's dict holds it */
  TF_Operation* next;
  const char* name;
  const char* type;
  const char* device;
  int num_outputs;
  TF_DataType output_types[];
};

/* The handle of an operation; the same each time. NULL with a status. */
TL_LOCAL TF_Operation* tl_operation(TF_Graph* graph, PyObject* operation,
                                    TF_Status* status);
/* tf.Tensor of an output, a new reference. `what` names it in errors. */
TL_LOCAL PyObject* tl_output(TF_Output output, const char* what, TF_Status* status);
TL_LOCAL PyObject* tl_output_list(const TF_Output* outputs, int count, const char* what,
                                  TF_Status* status);
TL_LOCAL PyObject* tl_operation_list(const TF_Operation* const* operations, int count,
                                     const char* what, TF_Status* status);
/* Writes the handles of a sequence of tf.Tensor; None becomes {NULL, -1}. */
TL_LOCAL int tl_put_outputs(TF_Graph* graph, PyObject* tensors, TF_Output* outputs,
                            int count, TF_Status* status);
TL_LOCAL void tl_graph_hold(TF_Graph* graph);
TL_LOCAL void tl_graph_release(TF_Graph* graph);

struct TF_SessionOptions {
  char* target;
  PyObject* config; /* bytes; NULL if there is none */
};

/* Puts the bytes of a ConfigProto, when they are one, where options hold them. */
TL_LOCAL void tl_set_config(PyObject** held, const void* proto, size_t proto_len,
                            TF_Status* status);

struct TF_Function {
  PyObject* function; /* capi.functions.Function */
  PyObject* name_object;
  const char* name; /* in name_object */
};

/* --- device.c ------------------------------------------------------------------ */

/* A list of tuples (name, type, bytes of memory, incarnation) as a TF_DeviceList. */
TL_LOCAL TF_DeviceList* tl_device_list(PyObject* devices, TF_Status* status);

#endif /* TENSORLOOM_CAPI_BRIDGE_H_ */
