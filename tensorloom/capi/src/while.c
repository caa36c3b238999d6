/* TF_NewWhile and its end: a loop whose condition and body are graphs. */
#include <stdlib.h>
#include <string.h>

#include "bridge.h"

static const TF_WhileParams no_loop;

/* The parts of a loop that is not made by TF_NewWhile are not ours to free. */
static int is_own(const TF_WhileParams* params) {
  return params != NULL && params->ninputs > 0 && params->cond_graph != NULL &&
         params->body_graph != NULL && params->cond_graph->parent != NULL &&
         params->cond_graph->parent == params->body_graph->parent &&
         params->cond_graph->parent_inputs == params->body_graph->parent_inputs &&
         params->cond_inputs != NULL && params->body_inputs != NULL &&
         params->body_outputs != NULL;
}

static void free_parts(const TF_WhileParams* params) {
  free(params->cond_graph->parent_inputs);
  TF_DeleteGraph(params->cond_graph);
  TF_DeleteGraph(params->body_graph);
  free((void*)params->cond_inputs);
  free((void*)params->body_inputs);
  free((void*)params->body_outputs);
}

/* Makes the input of a loop's graph that stands for a variable of the loop. */
static TF_Output make_input(TF_Graph* graph, const char* kind, int number,
                            TF_DataType dtype, TF_Status* status) {
  char name[32];
  snprintf(name, sizeof name, "%s_input%d", kind, number);
  TF_OperationDescription* desc = TF_NewOperation(graph, "Placeholder", name);
  TF_SetAttrType(desc, "dtype", dtype);
  return (TF_Output){TF_FinishOperation(desc, status), 0};
}

static TF_Graph* new_part(TF_Graph* parent, TF_Output* parent_inputs) {
  TF_Graph* graph = TF_NewGraph();
  if (graph == NULL) return NULL;
  graph->parent = parent;
  graph->parent_inputs = parent_inputs;
  return graph;
}

TF_WhileParams TF_NewWhile(TF_Graph* graph, TF_Output* inputs, int ninputs,
                           TF_Status* status) {
  if (!tl_given(graph, "g", status)) return no_loop;
  if (ninputs <= 0 || inputs == NULL) {
    tl_fail(status, TF_INVALID_ARGUMENT,
            "TF_NewWhile() must be passed at least one input");
    return no_loop;
  }
  for (int i = 0; i < ninputs; i++) {
    if (TF_OperationOutputType(inputs[i]) != 0) continue;
    tl_fail(status, TF_INVALID_ARGUMENT, "input %d is no output of an operation", i);
    return no_loop;
  }
  size_t count = (size_t)ninputs;
  TF_Output* kept = malloc(count * sizeof *kept);
  TF_Output* cond_inputs = calloc(count, sizeof *cond_inputs);
  TF_Output* body_inputs = calloc(count, sizeof *body_inputs);
  TF_Output* body_outputs = calloc(count, sizeof *body_outputs);
  TF_Graph* cond = kept ? new_part(graph, kept) : NULL;
  TF_Graph* body = cond ? new_part(graph, kept) : NULL;
  int worked = body != NULL && cond_inputs && body_inputs && body_outputs;
  if (!worked) tl_fail(status, TF_RESOURCE_EXHAUSTED, "no memory for a loop");
  for (int i = 0; worked && i < ninputs; i++) {
    TF_DataType dtype = TF_OperationOutputType(inputs[i]);
    kept[i] = inputs[i];
    cond_inputs[i] = make_input(cond, "cond", i, dtype, status);
    if (cond_inputs[i].oper != NULL)
      body_inputs[i] = make_input(body, "body", i, dtype, status);
    body_outputs[i] = (TF_Output){NULL, -1};
    worked = body_inputs[i].oper != NULL;
  }
  if (worked)
    return (TF_WhileParams){ninputs,     cond, cond_inputs, {NULL, -1}, body,
                            body_inputs, body_outputs, NULL};
  TF_DeleteGraph(cond), TF_DeleteGraph(body);
  free(kept), free(cond_inputs), free(body_inputs), free(body_outputs);
  return no_loop;
}

static int is_complete(const TF_WhileParams* params, TF_Status* status) {
  if (params->cond_output.oper == NULL) {
    tl_fail(status, TF_INVALID_ARGUMENT,
            "TF_WhileParams `cond_output` field isn't set");
    return 0;
  }
  for (int i = 0; i < params->ninputs; i++) {
    if (params->body_outputs[i].oper != NULL) continue;
    tl_fail(status, TF_INVALID_ARGUMENT,
            "TF_WhileParams `body_outputs[%d]` field isn't set", i);
    return 0;
  }
  if (params->name == NULL) {
    tl_fail(status, TF_INVALID_ARGUMENT, "TF_WhileParams `name` field is null");
    return 0;
  }
  TF_Output test = params->cond_output;
  if (test.index >= 0 && test.index < test.oper->num_outputs) return 1;
  tl_fail(status, TF_INVALID_ARGUMENT,
          "Invalid return output %d of node '%s', which has %d output(s)", test.index,
          test.oper->name, test.oper->num_outputs);
  return 0;
}

static void finish(const TF_WhileParams* params, TF_Status* status,
                   TF_Output* outputs) {
  tl_gil gil;
  if (!tl_enter(&gil, status)) return;
  int count = params->ninputs;
  TF_Graph* parent = params->cond_graph->parent;
  PyObject* inputs = tl_output_list(params->cond_graph->parent_inputs, count, "inputs",
                                    status);
  PyObject* cond_inputs =
      inputs ? tl_output_list(params->cond_inputs, count, "cond_inputs", status) : NULL;
  PyObject* test =
      cond_inputs ? tl_output(params->cond_output, "cond_output", status) : NULL;
  PyObject* body_inputs =
      test ? tl_output_list(params->body_inputs, count, "body_inputs", status) : NULL;
  PyObject* results =
      body_inputs ? tl_output_list(params->body_outputs, count, "body_outputs", status)
                  : NULL;
  if (results != NULL) {
    PyObject* found =
        tl_call(status, "gradients.add_while", "(OsO(OOO)(OOO))", parent->graph,
                params->name, inputs, params->cond_graph->graph, cond_inputs, test,
                params->body_graph->graph, body_inputs, results);
    if (found != NULL) tl_put_outputs(parent, found, outputs, count, status);
    Py_XDECREF(found);
  }
  Py_XDECREF(inputs), Py_XDECREF(cond_inputs), Py_XDECREF(test);
  Py_XDECREF(body_inputs), Py_XDECREF(results);
  tl_leave(gil);
}

void TF_FinishWhile(const TF_WhileParams* params, TF_Status* status,
                    TF_Output* outputs) {
  if (!is_own(params)) {
    tl_fail(status, TF_INVALID_ARGUMENT,
            "TF_WhileParams must be created by successful TF_NewWhile() call");
    return;
  }
  if (tl_given(outputs, "outputs", status) && is_complete(params, status))
    finish(params, status, outputs);
  free_parts(params);
}

void TF_AbortWhile(const TF_WhileParams* params) {
  if (is_own(params)) free_parts(params);
}
